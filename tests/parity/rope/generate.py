"""Writes expected.json: rotary frequencies and attention scaling by transformers' modeling_rope_utils.

    pip install torch==2.15.0 transformers==5.23.0 && python generate.py

Each case holds a config.json, the length of the sequence, inverse_frequencies (fp32) and attention_scaling.
"""
import json, os
import torch
from transformers import LlamaConfig, Qwen2Config
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

llama3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
yarn = {"factor": 40, "original_max_position_embeddings": 4096, "beta_fast": 32, "beta_slow": 1}
LENGTHS = {"dynamic": (100, 4096, 4097, 16384, 1_000_000)}
CASES = [
    dict(head_dim=128, max_position_embeddings=4096),
    dict(head_dim=64, rope_theta=1e6, max_position_embeddings=131072),
    dict(head_dim=80, rope_theta=500000.0, rope_scaling=None),
    dict(head_dim=6, rope_parameters={"rope_theta": 5000, "rope_type": "default"}),
    dict(head_dim=128, rope_theta=100000, rope_scaling={"type": "linear", "factor": 4.0}, max_position_embeddings=16384),
    dict(head_dim=16, rope_parameters={"rope_theta": 100000.0, "rope_type": "linear", "factor": 2.5}),
    dict(head_dim=128, rope_theta=10000.0, rope_scaling={"rope_type": "dynamic", "factor": 2.0}, max_position_embeddings=4096),
    dict(head_dim=64, rope_parameters={"rope_theta": 1e5, "rope_type": "dynamic", "factor": 4}, max_position_embeddings=4096),
    dict(head_dim=64, rope_scaling={"type": "yarn", "mscale": 0.707, "mscale_all_dim": 0.707, **yarn}, max_position_embeddings=163840),
    dict(head_dim=64, rope_scaling={"type": "yarn", "mscale": 1.0, "mscale_all_dim": 0.5, **yarn}, max_position_embeddings=163840),
    dict(head_dim=128, rope_scaling={"type": "yarn", "mscale": 1.0, "mscale_all_dim": 0, **yarn}, max_position_embeddings=163840),
    dict(head_dim=128, rope_parameters={"rope_type": "yarn", "rope_theta": 1e6, "factor": 4.0, "original_max_position_embeddings": 32768}, max_position_embeddings=131072),
    dict(head_dim=128, rope_parameters={"rope_type": "yarn", "rope_theta": 1e6, "factor": 4.0, "original_max_position_embeddings": 32768, "truncate": False}),
    dict(head_dim=96, rope_scaling={"rope_type": "yarn", "factor": None, "original_max_position_embeddings": 2048}, max_position_embeddings=32768),
    dict(head_dim=96, rope_scaling={"rope_type": "yarn", "factor": 16.0, "attention_factor": 1.25, "beta_fast": 0, "beta_slow": 2}, max_position_embeddings=8192),
    dict(head_dim=32, rope_scaling={"rope_type": "yarn", "factor": 0.5, "beta_fast": 4.0, "beta_slow": 4.0}, max_position_embeddings=512),
    dict(head_dim=16, rope_scaling={"rope_type": "yarn", "factor": 8.0}, original_max_position_embeddings=1024, max_position_embeddings=8192),
    dict(head_dim=128, rope_theta=500000.0, rope_scaling={"rope_type": "llama3", **llama3}, max_position_embeddings=131072),
    dict(head_dim=64, rope_parameters={"rope_type": "llama3", "rope_theta": 5e5, **llama3, "factor": 32.0}, max_position_embeddings=131072),
    dict(head_dim=64, rope_scaling={"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 2, "high_freq_factor": 2.5}, max_position_embeddings=2048),
    dict(model_type="qwen2", hidden_size=1536, num_attention_heads=12, num_key_value_heads=12, rope_theta=10000, max_position_embeddings=131072),
    dict(model_type="qwen2", hidden_size=1536, num_attention_heads=12, num_key_value_heads=2, rope_theta=1e6,
         rope_scaling={"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}, max_position_embeddings=32768),
]


def compute(case, length):
    fields = json.loads(json.dumps(case))
    config = (Qwen2Config if fields.pop("model_type", "llama") == "qwen2" else LlamaConfig)(**fields)
    kind = config.rope_parameters["rope_type"]
    init = LlamaRotaryEmbedding.compute_default_rope_parameters if kind == "default" else ROPE_INIT_FUNCTIONS[kind]
    frequencies, scaling = init(config, device="cpu", seq_len=length)
    return frequencies.tolist(), float(scaling), kind


expected = []
for case in CASES:
    kind = compute(case, 16)[2]
    for length in LENGTHS.get(kind, (4096,)):
        frequencies, scaling, _ = compute(case, length)
        config = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, **case}
        expected.append({"config": config, "sequence_length": length, "inverse_frequencies": frequencies, "attention_scaling": scaling})
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "expected.json"), "w") as file:
    json.dump({"versions": {"torch": torch.__version__}, "cases": expected}, file, separators=(",", ":"))
    file.write("\n")
print(len(expected), "cases")
