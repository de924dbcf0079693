"""Writes expected_metric.json: learning rates of torch's ReduceLROnPlateau and transformers' GreedyLR after each of a row of metrics.

    pip install torch==2.15.0 transformers==5.23.0 && python generate_metric.py
"""
import json, math, os, random
import torch
from transformers import get_scheduler

CASES = [
    ("reduce_lr_on_plateau", 1e-3, {}),
    ("reduce_lr_on_plateau", 1e-3, {"patience": 1, "factor": 0.5, "cooldown": 2}),
    ("reduce_lr_on_plateau", 1e-3, {"patience": 0, "factor": 0.3, "min_lr": 1e-5, "threshold": 0.05, "threshold_mode": "abs"}),
    ("reduce_lr_on_plateau", 1e-3, {"patience": 0, "mode": "max", "factor": 0.9, "eps": 1e-4}),
    ("reduce_lr_on_plateau", 1e-3, {"patience": 2, "mode": "max", "threshold_mode": "abs"}),
    ("greedy", 1e-2, {}),
    ("greedy", 1e-2, {"patience": 1, "factor": 0.8, "max_lr": 0.05}),
    ("greedy", 1e-2, {"patience": 0, "factor": 0.5, "cooldown": 2, "warmup": 1, "reset_start": 3}),
    ("greedy", 1e-2, {"patience": 0, "smooth": True, "window_size": 4, "reset_start": 2, "factor": 0.5}),
    ("greedy", 1e-2, {"patience": 1, "mode": "max", "threshold_mode": "rel", "threshold": 0.01, "min_lr": 0.004}),
    ("greedy", 5e-5, {"patience": 0}),
]
random.seed(5)
rows = []
for kind, lr, kwargs in CASES:
    metrics, level = [], 3.0
    for step in range(60):
        level *= random.choice((0.97, 0.97, 1.0, 1.02)) if step < 30 else random.choice((1.0, 1.01, 0.999))
        metrics.append(level)
    metrics[17] = math.nan
    metrics[41] = metrics[40]
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=lr)
    schedule = get_scheduler(kind, optimizer, scheduler_specific_kwargs=kwargs)
    rates = []
    for metric in metrics:
        schedule.step(metric)
        rates.append(optimizer.param_groups[0]["lr"])
    rows.append(dict(type=kind, base_lr=lr, kwargs=kwargs, metrics=metrics, lr_after=rates))
    print(kind, kwargs, len(set(rates)))
out = os.path.join(os.path.dirname(os.path.abspath(__file__)), "expected_metric.json")
json.dump(rows, open(out, "w"), indent=0)
