"""Makes the parity vectors llama, llama-tied, qwen2 and those of the rotary kinds with the reference implementation (Hugging Face transformers on PyTorch, CPU, fp32).

    pip install torch==2.15.0 transformers==5.23.0 safetensors numpy && python generate.py OUT   (OUT/llama, OUT/llama-tied, ...)

Each case is a folder: an HF checkpoint with random weights (config.json, model.safetensors),
tokens.safetensors with `input_ids` [steps, rows, seq] int64 and `labels` (same shape, -100 = no target; already
aligned with input_ids, so the model shifts them by one), and expected.json.
"""
import json, os, sys
import torch, transformers
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM
from transformers import get_cosine_with_hard_restarts_schedule_with_warmup

out = sys.argv[1]
torch.use_deterministic_algorithms(True)
torch.set_num_threads(1)

def small(**rope):
    return LlamaConfig(vocab_size=128, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1, initializer_range=0.08, **rope)

CASES = {
    "llama": LlamaConfig(vocab_size=512, hidden_size=64, intermediate_size=176, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                         max_position_embeddings=128, rms_norm_eps=1e-6, tie_word_embeddings=False, initializer_range=0.08),
    "llama-tied": LlamaConfig(vocab_size=512, hidden_size=64, intermediate_size=176, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4,
                         max_position_embeddings=128, tie_word_embeddings=True, attention_bias=True, initializer_range=0.08,
                         rope_parameters=dict(rope_type="linear", rope_theta=100000.0, factor=4.0)),
    "qwen2": Qwen2Config(vocab_size=160, hidden_size=48, intermediate_size=80, num_hidden_layers=2, num_attention_heads=6, num_key_value_heads=2,
                         max_position_embeddings=128, rms_norm_eps=1e-6, tie_word_embeddings=False, initializer_range=0.08),
    "qwen2-tied": Qwen2Config(vocab_size=160, hidden_size=48, intermediate_size=80, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4,
                         max_position_embeddings=128, tie_word_embeddings=True, initializer_range=0.08),
    "llama-dynamic": small(max_position_embeddings=16, rope_parameters=dict(rope_type="dynamic", rope_theta=10000.0, factor=2.0)),
    "llama-yarn": small(max_position_embeddings=64, rope_parameters=dict(rope_type="yarn", rope_theta=10000.0, factor=4.0, original_max_position_embeddings=16)),
    "llama-llama3": small(max_position_embeddings=256, rope_parameters=dict(rope_type="llama3", rope_theta=500000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32)),
}
KIND = {"llama": LlamaForCausalLM, "qwen2": Qwen2ForCausalLM}
STEPS, ROWS, SEQ, LR, WARMUP = 8, 4, 48, 3e-3, 2

def groups(model, decay=0.1):
    """Weight decay on matrices only, as HF Trainer does: norms and biases are exempt."""
    no = [p for n, p in model.named_parameters() if "norm" in n or n.endswith("bias")]
    yes = [p for n, p in model.named_parameters() if not ("norm" in n or n.endswith("bias"))]
    return [dict(params=yes, weight_decay=decay), dict(params=no, weight_decay=0.0)]

def run(path, tokens, accumulation, clip=1.0):
    """Loss is the mean over all target tokens of the global batch, whatever the accumulation."""
    model = transformers.AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32, attn_implementation="eager")
    model.train()
    opt = torch.optim.AdamW(groups(model), lr=LR, betas=(0.9, 0.95), eps=1e-8)
    sched = get_cosine_with_hard_restarts_schedule_with_warmup(opt, WARMUP, STEPS, num_cycles=2)
    rows = []
    for step in range(STEPS):
        ids, lab = tokens["input_ids"][step], tokens["labels"][step]
        targets = (lab[:, 1:] != -100).sum().item()
        total = 0.0
        for part in range(accumulation):
            s = slice(part * ROWS // accumulation, (part + 1) * ROWS // accumulation)
            logits = model(input_ids=ids[s], use_cache=False).logits.float()
            loss = torch.nn.functional.cross_entropy(logits[:, :-1].reshape(-1, logits.shape[-1]), lab[s][:, 1:].reshape(-1), ignore_index=-100, reduction="sum") / targets
            loss.backward()
            total += loss.item()
        first = {n: p.grad.norm().item() for n, p in model.named_parameters()} if step == 0 else None
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), clip).item()
        lr = opt.param_groups[0]["lr"]
        opt.step(); sched.step(); opt.zero_grad()
        rows.append(dict(step=step, loss=total, grad_norm=norm, learning_rate=lr, targets=targets, **({"grad_norm_by_parameter": first} if first else {})))
    final = {n: [p.detach().double().norm().item(), p.detach().double().sum().item()] for n, p in model.named_parameters()}
    return dict(accumulation=accumulation, steps=rows, final_parameter_norm_and_sum=final)

for name, cfg in CASES.items():
    path = os.path.join(out, name); os.makedirs(path, exist_ok=True)
    cfg._attn_implementation = "eager"
    seed = 1000 + list(CASES).index(name)
    torch.manual_seed(seed)
    model = KIND[cfg.model_type](cfg)
    with torch.no_grad():
        for n, p in list(model.named_parameters()) + list(model.named_buffers()):
            if "norm" in n: p.copy_(1 + 0.1 * torch.randn_like(p))
    model.save_pretrained(path)
    g = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, cfg.vocab_size, (STEPS, ROWS, SEQ), generator=g)
    ids[:, :, 1::2] = (ids[:, :, 0::2] * 7 + 3) % cfg.vocab_size  # half of the targets can be learnt
    lab = ids.clone()
    for s in range(STEPS):
        for r in range(ROWS):
            n = int(torch.randint(4, SEQ, (1,), generator=g)); lab[s, r, :SEQ - n] = -100   # ragged: targets differ per row
    tokens = dict(input_ids=ids, labels=lab); save_file(tokens, os.path.join(path, "tokens.safetensors"))
    model = transformers.AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32, attn_implementation="eager").eval()
    with torch.no_grad(): logits = model(input_ids=ids[0, :1], use_cache=False).logits[0]
    save_file(dict(logits=logits.contiguous()), os.path.join(path, "logits.safetensors"))
    exp = dict(made_with=dict(torch=torch.__version__, transformers=transformers.__version__), optimizer=dict(type="AdamW", learning_rate=LR, betas=[0.9, 0.95], eps=1e-8, weight_decay=0.1, no_decay="norm weights and biases"),
               schedule=dict(type="cosine_with_restarts", num_warmup_steps=WARMUP, num_training_steps=STEPS, num_cycles=2), max_grad_norm=1.0,
               parameters=sum(p.numel() for p in model.parameters()), runs=[run(path, tokens, 1), run(path, tokens, 4)])
    json.dump(exp, open(os.path.join(path, "expected.json"), "w"), indent=1)
    print(name, exp["parameters"], [round(r["loss"], 4) for r in exp["runs"][0]["steps"]], [round(r["grad_norm"], 3) for r in exp["runs"][0]["steps"]][:3], max(abs(a["loss"] - b["loss"]) for a, b in zip(exp["runs"][0]["steps"], exp["runs"][1]["steps"])))
