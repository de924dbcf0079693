"""The peer of bench/compare_train.py: the same model, rows, optimizer and clipping in plain PyTorch with transformers' modules.

python pytorch_train.py --model FOLDER --rows FILE.jsonl --dtype bf16|fp32 --micro 2 --accumulation 1 --steps 12
Prints one JSON line: step times in seconds, losses, seconds from launch to the end of the first step.
"""
import argparse
import json
import os
import time

LAUNCHED = float(os.environ.get("BENCH_LAUNCHED", time.time()))

import torch  # noqa: E402  (the launch time is taken before)
from transformers import AutoConfig, AutoModelForCausalLM  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--rows", required=True)
    parser.add_argument("--dtype", choices=("bf16", "fp32"), required=True)
    parser.add_argument("--micro", type=int, required=True)
    parser.add_argument("--accumulation", type=int, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    args = parser.parse_args()

    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    if any(name.endswith(".safetensors") for name in os.listdir(args.model)):
        model = AutoModelForCausalLM.from_pretrained(args.model, dtype=torch.float32, attn_implementation="sdpa")
    else:
        model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(args.model), attn_implementation="sdpa")
    model.config.use_cache = False
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
    with open(args.rows) as lines:
        rows = torch.tensor([json.loads(line)["input_ids"] for line in lines])

    times, losses, first, position = [], [], None, 0
    for _ in range(args.steps):
        begin = time.time()
        total = 0.0
        for _ in range(args.accumulation):
            ids = rows[position:position + args.micro]
            position += args.micro
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=args.dtype == "bf16"):
                loss = model(input_ids=ids, labels=ids).loss
            (loss / args.accumulation).backward()
            total += loss.item() / args.accumulation
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if first is None:
            first = time.time() - LAUNCHED
        times.append(time.time() - begin)
        losses.append(total)
    print("RESULT " + json.dumps({"step_seconds": times, "losses": losses, "first_step_seconds": first}), flush=True)


if __name__ == "__main__":
    main()
