#!/usr/bin/env python3
"""Trains one model with athanor and with PyTorch in turn (A B A B ...) and prints ratios.

    python3 -m venv PEERS && PEERS/bin/pip install -r bench/requirements-peers.txt
    python3 bench/compare_train.py --peer-python PEERS/bin/python --model small --dtype bf16

Same weights, same rows, same order, same optimizer; the losses of both must agree before any time is believed. Step times are taken
after --warm-up steps; a figure is the median over all steps of all rounds of a side. Memory is the process's peak (ru_maxrss).
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHAPES = {  # hidden, layers, heads, intermediate, vocabulary, sequence
    "tiny": (256, 4, 4, 688, 4096, 256),
    "small": (768, 12, 12, 2048, 32000, 512),
}


def write_model(folder, shape):
    hidden, layers, heads, intermediate, vocabulary, sequence = shape
    config = dict(architectures=["LlamaForCausalLM"], model_type="llama", hidden_size=hidden, num_hidden_layers=layers,
                  num_attention_heads=heads, num_key_value_heads=heads, intermediate_size=intermediate, vocab_size=vocabulary,
                  max_position_embeddings=sequence, rms_norm_eps=1e-6, tie_word_embeddings=False, initializer_range=0.02,
                  hidden_act="silu", rope_theta=10000.0, torch_dtype="float32", bos_token_id=1, eos_token_id=2)
    (folder / "config.json").write_text(json.dumps(config))


def write_rows(path, count, shape):
    generator = random.Random(1234)
    with open(path, "w") as out:
        for _ in range(count):
            out.write(json.dumps({"input_ids": [generator.randrange(shape[4]) for _ in range(shape[5])]}) + "\n")


INITIALISE = """
import sys, torch
from transformers import AutoConfig, AutoModelForCausalLM
torch.manual_seed(0)
AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(sys.argv[1])).save_pretrained(sys.argv[1])
"""


def event_times(folder):
    """{step: wall time} from the TensorBoard files below `folder`: each event starts with its wall time (field 1) and step (field 2)."""
    times = {}
    for path in sorted(folder.rglob("*tfevents*")):
        data, at = path.read_bytes(), 0
        while at + 12 <= len(data):
            (length,) = struct.unpack_from("<Q", data, at)
            payload = data[at + 12:at + 12 + length]
            at += length + 16
            if payload[:1] != b"\x09" or payload[9:10] != b"\x10":
                continue
            step, shift, index = 0, 0, 10
            while True:
                step |= (payload[index] & 127) << shift
                shift += 7
                index += 1
                if payload[index - 1] < 128:
                    break
            times.setdefault(step, struct.unpack_from("<d", payload, 1)[0])
    return times


def run(command, environment):
    """Runs to the end; gives (output, peak bytes, seconds)."""
    environment = dict(environment, BENCH_LAUNCHED=str(time.time()))
    begin = time.time()
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        output.seek(0)
        text = output.read()
    if status != 0:
        sys.exit(f"{' '.join(map(str, command))}\nended with status {status}:\n{text[-3000:]}")
    return text, usage.ru_maxrss * 1024, begin


def run_peer(args, model, rows):
    command = [args.peer_python, ROOT / "bench/peers/pytorch_train.py", "--model", model, "--rows", rows, "--dtype", args.dtype,
               "--micro", str(args.micro), "--accumulation", str(args.accumulation), "--steps", str(args.steps), "--threads",
               str(args.threads)]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
    text, peak, _ = run(command, dict(environment, OMP_NUM_THREADS=str(args.threads)))
    result = json.loads(re.search(r"^RESULT (.*)$", text, re.M).group(1))
    return dict(result, peak=peak)


def run_athanor(args, model, rows, folder):
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    command = [args.athanor, "train", "--model_name_or_path", model, "--data_path", rows, "--output_dir", out, "--train_sampling_strategy",
               "sequential", "--per_device_train_batch_size", str(args.micro), "--gradient_accumulation_steps", str(args.accumulation),
               "--max_steps", str(args.steps), "--learning_rate", "3e-4", "--lr_scheduler_type", "constant", "--weight_decay", "0.1",
               "--adam_beta2", "0.95", "--max_grad_norm", "1.0", "--logging_steps", "1", "--save_strategy", "no", "--report_to", "tensorboard",
               "--bf16", "true" if args.dtype == "bf16" else "false", "--logging_nan_inf_filter", "false",
               "--num_threads", str(args.threads), "--cache_dir", folder / "cache"]
    _, peak, began = run(command, dict(os.environ, OMP_NUM_THREADS=str(args.threads)))
    state = json.loads((out / "trainer_state.json").read_text())
    ended = event_times(out)
    return {"losses": [row["loss"] for row in state["log_history"] if "loss" in row],
            "step_seconds": [float("nan")] + [ended[step] - ended[step - 1] for step in range(2, args.steps + 1)],
            "first_step_seconds": ended[1] - began, "peak": peak}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer-python", required=True)
    parser.add_argument("--athanor", default=str(ROOT / "build/bin/athanor"))
    parser.add_argument("--model", choices=SHAPES, default="small")
    parser.add_argument("--dtype", choices=("bf16", "fp32"), default="bf16")
    parser.add_argument("--micro", type=int, default=2)
    parser.add_argument("--accumulation", type=int, default=1)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--warm-up", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--json", help="write the raw figures here")
    args = parser.parse_args()

    shape = SHAPES[args.model]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = folder / "model"
        model.mkdir()
        write_model(model, shape)
        rows = folder / "rows.jsonl"
        write_rows(rows, args.steps * args.micro * args.accumulation, shape)
        subprocess.run([args.peer_python, "-c", INITIALISE, model], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        sides = {"athanor": [], "pytorch": []}
        for _ in range(args.rounds):
            sides["athanor"].append(run_athanor(args, model, rows, folder))
            sides["pytorch"].append(run_peer(args, model, rows))

    tolerance = 2e-2 if args.dtype == "bf16" else 1e-4
    for ours, theirs in zip(sides["athanor"][0]["losses"], sides["pytorch"][0]["losses"]):
        if abs(ours - theirs) > tolerance:
            sys.exit(f"the losses differ ({ours} and {theirs}): no time is worth comparing")

    tokens = shape[5] * args.micro * args.accumulation
    figures = {}
    for side, rounds in sides.items():
        steps = [t for r in rounds for t in r["step_seconds"][args.warm_up:]]
        figures[side] = {"tokens_per_second": tokens / statistics.median(steps), "slowest": tokens / max(steps), "fastest": tokens / min(steps),
                         "peak_bytes": statistics.median(r["peak"] for r in rounds),
                         "first_step_seconds": statistics.median(r["first_step_seconds"] for r in rounds)}
        print(f"{side:8s} {figures[side]['tokens_per_second']:8.1f} tokens/s ({figures[side]['slowest']:.0f}..{figures[side]['fastest']:.0f})"
              f"  peak {figures[side]['peak_bytes'] / 2**20:6.0f} MiB  launch to first step {figures[side]['first_step_seconds']:5.2f} s")
    ours, theirs = figures["athanor"], figures["pytorch"]
    print(f"ratio    tokens/s {ours['tokens_per_second'] / theirs['tokens_per_second']:.2f}x  peak memory "
          f"{ours['peak_bytes'] / theirs['peak_bytes']:.2f}x  launch to first step {ours['first_step_seconds'] / theirs['first_step_seconds']:.2f}x")
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps({"arguments": vars(args), "figures": figures, "rounds": sides}, indent=1))


if __name__ == "__main__":
    main()
