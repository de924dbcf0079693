"""Forty-step training trajectories of a 165,000-parameter Llama on the bytes of a text, by transformers and torch.optim (CPU).

    pip install torch==2.15.0 transformers==5.23.0 safetensors numpy
    python generate.py gen   -> training/{config.json, model.safetensors (initial weights), batches.bin (u16 [40 steps][8 rows][64])}, from
                                text.bin, a text as little-endian u16 per byte
    python generate.py run   -> training/expected_single.json: several variants

Two legitimate fp32 runs (accumulation, threads, fused or not) differ by at most 6e-7 in the loss over 40 steps; bf16 autocast
from fp32 by 3e-3.
"""
import os, sys, json, math, numpy as np, torch, torch.nn as nn
torch.set_num_threads(1); torch.use_deterministic_algorithms(True)
import transformers
from transformers import LlamaConfig, LlamaForCausalLM, get_cosine_with_hard_restarts_schedule_with_warmup as sched_fn
from safetensors.torch import save_file, load_file
D = 'training'; os.makedirs(D, exist_ok=True)
STEPS, ROWS, SEQ, V, LR, WU, CYC = 40, 8, 64, 256, 3e-3, 2, 2
def cfg(): return LlamaConfig(vocab_size=V, hidden_size=64, intermediate_size=172, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4, max_position_embeddings=512, initializer_range=0.02, tie_word_embeddings=False, use_cache=False, attn_implementation='sdpa', rms_norm_eps=1e-6)
def load():
    m = LlamaForCausalLM(cfg()); sd = load_file(D + '/model.safetensors'); m.load_state_dict(sd, strict=True); m.train(); return m
def data(): return torch.from_numpy(np.fromfile(D + '/batches.bin', '<u2').astype(np.int64).reshape(STEPS, ROWS, SEQ))
OK = dict(lr=LR, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1)
mode = sys.argv[1]
if mode == 'gen':
    torch.manual_seed(1234); m = LlamaForCausalLM(cfg()); m.save_pretrained(D)
    t = np.fromfile('text.bin', '<u2'); g = np.random.Generator(np.random.PCG64(5)); off = g.integers(0, len(t) - SEQ, STEPS * ROWS)
    np.stack([t[o:o + SEQ] for o in off]).astype('<u2').tofile(D + '/batches.bin')
elif mode == 'run':
    B = data(); res = dict(torch=torch.__version__, transformers=transformers.__version__, threads=1, steps=STEPS, rows=ROWS, seq=SEQ, optimizer='torch.optim.AdamW(foreach=False)', **{k: OK[k] for k in OK}, schedule=f'cosine_with_hard_restarts warmup={WU} total={STEPS} num_cycles={CYC}', loss='HF ForCausalLMLoss: labels=input_ids, shifted inside, mean over rows*(seq-1) tokens, fp32 logits')
    def run(name, accum=1, clip=1.0, groups=False, autocast=False, fused=False, pure_bf16=False, steps=STEPS, save=False):
        m = load()
        if groups:
            dec = [p for n, p in m.named_parameters() if p.ndim >= 2]; nd = [p for n, p in m.named_parameters() if p.ndim < 2]
            ps = [dict(params=dec, weight_decay=0.1), dict(params=nd, weight_decay=0.0)]
        else: ps = m.parameters()
        opt = torch.optim.AdamW(ps, foreach=False if not fused else None, fused=fused or None, **OK); sc = sched_fn(opt, WU, STEPS, CYC)
        out = []
        for s in range(steps):
            l = 0.
            for mb in B[s].chunk(accum):
                with torch.autocast('cpu', torch.bfloat16, enabled=autocast): loss = m(input_ids=mb, labels=mb).loss
                (loss / accum).backward(); l += loss.item() / accum
            gn = nn.utils.clip_grad_norm_(m.parameters(), clip); lr = opt.param_groups[0]['lr']
            out.append(dict(step=s, loss=l, grad_norm=gn.item(), lr=lr)); opt.step(); sc.step(); opt.zero_grad()
        res[name] = dict(accum=accum, clip=clip, steps=out, final_param_l2={n: p.detach().double().norm().item() for n, p in m.named_parameters()})
        if save: save_file({k: v.contiguous() for k, v in m.state_dict().items()}, f'{D}/final_{name}.safetensors')
        print(name, out[0], out[-1])
    run('single_fp32', save=True)
    run('accum4_fp32', accum=4)
    run('clip0.1_fp32', clip=0.1)
    run('hf_decay_groups_fp32', groups=True)
    run('fused_adamw_fp32', fused=True)
    run('autocast_bf16', autocast=True)
    # noise floor: how far apart two legitimate fp32 runs are
    torch.set_num_threads(2); run('single_fp32_2threads'); torch.set_num_threads(1)
    a, b, c = (res[k]['steps'] for k in ('single_fp32', 'accum4_fp32', 'single_fp32_2threads'))
    res['noise_floor_max_abs_loss_diff'] = dict(accum4_vs_single=max(abs(x['loss'] - y['loss']) for x, y in zip(a, b)), threads2_vs_1=max(abs(x['loss'] - y['loss']) for x, y in zip(a, c)),
        fused_vs_single=max(abs(x['loss'] - y['loss']) for x, y in zip(a, res['fused_adamw_fp32']['steps'])), autocast_bf16_vs_single=max(abs(x['loss'] - y['loss']) for x, y in zip(a, res['autocast_bf16']['steps'])))
    print(res['noise_floor_max_abs_loss_diff'])
    json.dump(res, open(D + '/expected_single.json', 'w'), indent=1)
