"""Writes expected.json: five steps of each optimizer on three small parameters, computed by torch.optim (foreach=False, CPU, fp32).

    pip install torch==2.15.0 && python generate.py

Lion is not in torch.optim; its five lines of Algorithm 2 (Chen et al. 2023) are written out here with torch operations, and so is
Adam without bias correction. Every parameter of a case is decayed except those named in NO_DECAY when `groups` is true.
"""
import json, os
import torch

SHAPES = {"embed.weight": [6, 9], "layer.norm.weight": [9], "layer.proj.bias": [5], "layer.proj.weight": [5, 9]}
NO_DECAY = {"layer.norm.weight", "layer.proj.bias"}
RATES = [1e-2, 5e-3, 2e-2, 0.0, 1e-2]
CASES = {
    "adamw": dict(kind="adamw", beta1=0.9, beta2=0.95, epsilon=1e-8, weight_decay=0.1, groups=False),
    "adamw_groups": dict(kind="adamw", beta1=0.9, beta2=0.999, epsilon=1e-8, weight_decay=0.1, groups=True),
    "adamw_large_epsilon": dict(kind="adamw", beta1=0.8, beta2=0.99, epsilon=1e-3, weight_decay=0.0, groups=True),
    "adamw_no_bias_correction": dict(kind="adamw", beta1=0.9, beta2=0.95, epsilon=1e-8, weight_decay=0.1, groups=False, bias_correction=False),
    "adam_l2": dict(kind="adam", beta1=0.9, beta2=0.999, epsilon=1e-8, weight_decay=0.1, groups=False),
    "sgd": dict(kind="sgd", weight_decay=0.1, groups=True),
    "sgd_momentum": dict(kind="sgd", momentum=0.9, weight_decay=0.05, groups=False),
    "sgd_dampening": dict(kind="sgd", momentum=0.9, dampening=0.3, weight_decay=0.0, groups=False),
    "sgd_nesterov": dict(kind="sgd", momentum=0.8, nesterov=True, weight_decay=0.05, groups=True),
    "lion": dict(kind="lion", beta1=0.9, beta2=0.99, weight_decay=0.1, groups=False),
}


def lion(p, g, s, lr, c, wd):
    m = s.setdefault("exp_avg", torch.zeros_like(p))
    p.mul_(1 - lr * wd)
    p.sub_(lr * (c["beta1"] * m + (1 - c["beta1"]) * g).sign())
    m.mul_(c["beta2"]).add_((1 - c["beta2"]) * g)


def adamw_uncorrected(p, g, s, lr, c, wd):
    m, v = s.setdefault("exp_avg", torch.zeros_like(p)), s.setdefault("exp_avg_sq", torch.zeros_like(p))
    p.mul_(1 - lr * wd)
    m.lerp_(g, 1 - c["beta1"])
    v.mul_(c["beta2"]).addcmul_(g, g, value=1 - c["beta2"])
    p.addcdiv_(m, v.sqrt().add_(c["epsilon"]), value=-lr)


def torch_optimizer(c, groups):
    if c["kind"] == "sgd":
        return torch.optim.SGD(groups, lr=1.0, momentum=c.get("momentum", 0.0), dampening=c.get("dampening", 0.0), nesterov=c.get("nesterov", False), foreach=False)
    kind = torch.optim.AdamW if c["kind"] == "adamw" else torch.optim.Adam
    return kind(groups, lr=1.0, betas=(c["beta1"], c["beta2"]), eps=c["epsilon"], foreach=False)


def run(c, start, gradients):
    params = {n: t.clone().requires_grad_() for n, t in start.items()}
    decay = {n: 0.0 if c["groups"] and n in NO_DECAY else c["weight_decay"] for n in params}
    manual = {"lion": lion}.get(c["kind"]) or (None if c.get("bias_correction", True) else adamw_uncorrected)
    states = {n: {} for n in params}
    opt = None if manual else torch_optimizer(c, [dict(params=[p], weight_decay=decay[n]) for n, p in params.items()])
    history = []
    for step, lr in enumerate(RATES):
        if manual:
            with torch.no_grad():
                for n, p in params.items():
                    manual(p, gradients[n][step], states[n], lr, c, decay[n])
        else:
            for group, (n, p) in zip(opt.param_groups, params.items()):
                group["lr"] = lr
                p.grad = gradients[n][step].clone()
            opt.step()
            states = {n: {k: v for k, v in opt.state[p].items() if k != "step"} for n, p in params.items()}
        history.append({n: p.detach().flatten().tolist() for n, p in params.items()})
    kept = {n: {k: v.flatten().tolist() for k, v in s.items() if v is not None} for n, s in states.items()}
    return dict(config=c, parameters=history, final_states=kept)


torch.manual_seed(7)
start = {n: torch.randn(s) * 0.1 for n, s in SHAPES.items()}
gradients = {n: [torch.randn(s) * 10 ** (i % 3 - 1) for i in range(len(RATES))] for n, s in SHAPES.items()}
gradients["embed.weight"][0][2] = 0.0  # a row that was not used: sign(0) is 0 in Lion
gradients["embed.weight"][1][2] = 0.0
here = os.path.dirname(os.path.abspath(__file__))
result = dict(made_with=dict(torch=torch.__version__), learning_rates=RATES, shapes=SHAPES,
              start={n: t.flatten().tolist() for n, t in start.items()},
              gradients={n: [t.flatten().tolist() for t in ts] for n, ts in gradients.items()},
              cases={n: run(c, start, gradients) for n, c in CASES.items()})
with open(os.path.join(here, "expected.json"), "w") as f:
    json.dump(result, f)
