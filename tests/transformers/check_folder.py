"""Trains a parity case with athanor, loads the folder it wrote with transformers, and compares what both compute from it.

Checked: transformers loads the weights without a missing or unexpected key; the evaluation loss of both on the same rows; greedy
continuation token by token. With --write the values of transformers are written to expected.json beside this script; the ordinary
tests (tests/system) compare athanor with those, without Python.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import torch
from transformers import AutoModelForCausalLM

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ATHANOR = ROOT / "build/bin/athanor"
CASES = ("llama", "llama-tied", "llama-yarn", "llama-llama3", "qwen2", "qwen2-tied")
PROMPT = [5, 17, 100, 31, 44]
NEW_TOKENS = 24


def training_rows():
    """Eight rows of 24 ids below 128; tests/system/transformers_test.cpp makes the same ones."""
    return [[(7 * row + 3 * place * place + place) % 128 for place in range(24)] for row in range(8)]


def train(case, rows, out):
    folder = ROOT / "tests/parity" / case
    subprocess.run([ATHANOR, "train", "--model_name_or_path", folder, "--data_path", rows, "--validation_file", rows, "--output_dir", out, "--train_sampling_strategy", "sequential",
                    "--per_device_train_batch_size", "4", "--max_steps", "8", "--learning_rate", "3e-3", "--lr_scheduler_type",
                    "constant", "--logging_steps", "1", "--eval_strategy", "steps", "--eval_steps", "8", "--save_strategy", "no",
                    "--report_to", "none"], check=True, stdout=subprocess.DEVNULL)
    history = json.loads((out / "trainer_state.json").read_text())["log_history"]
    return [row["eval_loss"] for row in history if "eval_loss" in row][-1]


def generate(out):
    text = subprocess.run([ATHANOR, "generate", out, "--prompt_ids", ",".join(map(str, PROMPT)), "--max_new_tokens", str(NEW_TOKENS),
                           "--ignore_eos", "--output_ids"], check=True, capture_output=True, text=True).stdout
    return [int(word) for word in text.replace(",", " ").split()]


def reference(out, rows):
    model, info = AutoModelForCausalLM.from_pretrained(out, dtype=torch.float32, output_loading_info=True)
    wrong = {key: sorted(map(str, value)) for key, value in info.items() if value}
    if wrong:
        sys.exit(f"transformers: {wrong}")
    model.eval()
    total, count = 0.0, 0
    with torch.no_grad():
        for row in rows:
            ids = torch.tensor([row])
            logits = model(input_ids=ids).logits[0, :-1].float()
            total += torch.nn.functional.cross_entropy(logits, ids[0, 1:], reduction="sum").item()
            count += len(row) - 1
        ids = torch.tensor([PROMPT])
        for _ in range(NEW_TOKENS):
            ids = torch.cat([ids, model(input_ids=ids).logits[:, -1:].argmax(-1)], 1)
    return total / count, ids[0, len(PROMPT):].tolist()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true", help="write expected.json")
    args = parser.parse_args()
    values, failures = {}, 0
    rows = training_rows()
    for case in CASES:
        with tempfile.TemporaryDirectory() as name:
            out, file = pathlib.Path(name) / "out", pathlib.Path(name) / "rows.jsonl"
            file.write_text("".join(json.dumps({"input_ids": row}) + "\n" for row in rows))
            loss = train(case, file, out)
            continuation = generate(out)
            expected_loss, expected_continuation = reference(out, rows)
        ok = abs(loss - expected_loss) < 2e-5 and continuation == expected_continuation
        failures += not ok
        values[case] = {"eval_loss": expected_loss, "greedy": expected_continuation}
        print(f"{'ok  ' if ok else 'FAIL'} {case}: evaluation loss {loss:.7f}, transformers {expected_loss:.7f}; greedy tokens "
              f"{'equal' if continuation == expected_continuation else f'differ: {continuation} and {expected_continuation}'}")
    if args.write:
        (pathlib.Path(__file__).parent / "expected.json").write_text(json.dumps(values, indent=1) + "\n")
    print(f"{len(CASES) - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
