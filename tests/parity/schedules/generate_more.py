"""Writes expected_more.json: the options and corners of the schedules that expected.json does not reach, in its form.

    pip install torch==2.15.0 transformers==5.23.0 deepspeed==0.19.8 && DS_ACCELERATOR=cpu python generate_more.py
"""
import json, os
import torch
from deepspeed.runtime import lr_schedules
from transformers import get_scheduler

SHAPES = ("linear", "cosine", "1-sqrt")
HF = [
    ("cosine", {"num_cycles": 2.5}),
    ("cosine", {"num_cycles": 0}),
    ("cosine_with_restarts", {"num_cycles": 2.5}),
    ("polynomial", {}),
    ("polynomial", {"lr_end": 0.0, "power": 0.5}),
    ("inverse_sqrt", {"timescale": 7}),
    ("cosine_with_min_lr", {"min_lr_rate": 0.2, "num_cycles": 1.5}),
    ("cosine_with_min_lr", {"min_lr": 0.0}),
    ("cosine_warmup_with_min_lr", {"min_lr_rate": 0.1}),
    ("cosine_warmup_with_min_lr", {"min_lr": 1e-6, "warmup_lr_rate": 0.01}),
    ("cosine_warmup_with_min_lr", {"min_lr_rate": 0.0, "warmup_lr_rate": 0.0, "num_cycles": 1.0}),
] + [("warmup_stable_decay", {"num_decay_steps": 5, "warmup_type": w, "decay_type": d, "min_lr_ratio": r})
     for w in SHAPES for d, r in (("linear", 0.0), ("1-sqrt", 0.1))] + [
    ("warmup_stable_decay", {"num_decay_steps": 5, "num_stable_steps": 0, "num_cycles": 1.5}),
    ("warmup_stable_decay", {"num_decay_steps": 40}),
]
LINEAR = {"warmup_type": "linear"}
DEEPSPEED = [
    ("WarmupLR", {"warmup_min_lr": 1e-5, "warmup_num_steps": 4}),
    ("WarmupLR", {"warmup_max_lr": 2e-3, "warmup_num_steps": 2, **LINEAR}),
    ("WarmupLR", {}),
    ("WarmupDecayLR", {"total_num_steps": 10, "warmup_min_lr": 1e-5, "warmup_num_steps": 10}),
    ("WarmupDecayLR", {"total_num_steps": 10, "warmup_min_lr": 1e-5, "warmup_num_steps": 4, **LINEAR}),
    ("WarmupCosineLR", {"total_num_steps": 10, "warmup_min_ratio": 0.1, "cos_min_ratio": 0.05, "warmup_num_steps": 4, **LINEAR}),
    ("WarmupCosineLR", {"total_num_steps": 12, "warmup_num_steps": 1}),
    ("WarmupCosineLR", {"total_num_steps": 12, "warmup_num_steps": 12}),
    ("OneCycle", {"cycle_min_lr": 1e-4, "cycle_max_lr": 1e-3, "cycle_first_step_size": 3, "cycle_second_step_size": 4, "decay_lr_rate": 0.5, "decay_step_size": 2, "decay_mom_rate": 0.1}),
    ("OneCycle", {"cycle_min_lr": 1e-4, "cycle_max_lr": 1e-3, "cycle_first_step_size": 8, "cycle_first_stair_count": 4, "cycle_min_mom": 0.85, "cycle_max_mom": 0.95}),
    ("OneCycle", {"cycle_min_lr": 1e-4, "cycle_max_lr": 1e-3, "cycle_first_step_size": 7, "cycle_second_step_size": 9, "cycle_first_stair_count": 3, "cycle_second_stair_count": 2, "cycle_momentum": False}),
    ("OneCycle", {"cycle_min_lr": 1e-4, "cycle_max_lr": 1e-3, "cycle_first_step_size": 5, "cycle_second_step_size": 0, "decay_lr_rate": 0.5, "decay_step_size": 4}),
    ("OneCycle", {"cycle_min_lr": 1e-4, "cycle_max_lr": 1e-3, "cycle_first_step_size": 2.5, "cycle_second_step_size": 4.5}),
    ("LRRangeTest", {"lr_range_test_step_size": 3}),
    ("LRRangeTest", {"lr_range_test_min_lr": 1e-5, "lr_range_test_step_size": 1, "lr_range_test_step_rate": 0.5, "lr_range_test_staircase": True}),
]


def optimizer(lr):
    return torch.optim.AdamW([torch.nn.Parameter(torch.zeros(2))], lr=lr, betas=(0.9, 0.95))


cases = []
for kind, kwargs in HF:
    for warmup, total in ((0, 15), (4, 15), (1, 1)):
        case = dict(family="hf", type=kind, base_lr=3e-4, num_warmup_steps=warmup, num_training_steps=total, kwargs=kwargs)
        try:
            o = optimizer(3e-4)
            s = get_scheduler(kind, o, num_warmup_steps=warmup, num_training_steps=total, scheduler_specific_kwargs=dict(kwargs))
            case["lr"] = []
            for _ in range(total + 5):
                case["lr"].append(o.param_groups[0]["lr"])
                o.step()
                s.step()
        except Exception as error:
            case["error"] = f"{type(error).__name__}: {error}"[:200]
            case.pop("lr", None)
        cases.append(case)
for kind, params in DEEPSPEED:
    o = optimizer(1e-3)
    s = getattr(lr_schedules, kind)(o, **params)
    moves = kind == "OneCycle" and params.get("cycle_momentum", True)
    case = dict(family="deepspeed", type=kind, base_lr=1e-3, params=params, lr_before_first_scheduler_step=o.param_groups[0]["lr"])
    rates, momenta = [], []
    for _ in range(24):
        s.step()
        rates.append(o.param_groups[0]["lr"])
        momenta.append(o.param_groups[0]["betas"][0])
    case["lr_after_scheduler_step"] = rates
    if moves:
        case["beta1_after_scheduler_step"] = momenta
    cases.append(case)
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "expected_more.json"), "w") as file:
    json.dump({"schedules": cases}, file, separators=(",", ":"))
    file.write("\n")
print(len(cases), [c["type"] + " " + c["error"] for c in cases if "error" in c])
