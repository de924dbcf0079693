"""What transformers makes of flags and a DeepSpeed JSON: "auto" filled in, or the list of mismatches; and TrainingArguments' names.

    pip install torch==2.15.0 transformers==5.23.0 accelerate==1.15.0 deepspeed==0.19.8
    DS_ACCELERATOR=cpu python generate.py > expected.json

Each case: the flags as a person writes them, the JSON, the processes, hidden_size of the model and the planned optimizer steps.
`filled` is the JSON after HfTrainerDeepSpeedConfig's two passes; `mismatches` are the lines of its error.
"""
import contextlib, dataclasses, io, json, sys, types

from transformers import HfArgumentParser, TrainingArguments
from transformers.integrations.deepspeed import HfTrainerDeepSpeedConfig

TRIO = {"train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": "auto"}
ADAMW = {"type": "AdamW", "params": {"lr": "auto", "betas": "auto", "eps": "auto", "weight_decay": "auto"}}
WARMUP = {"type": "WarmupLR", "params": {"warmup_min_lr": "auto", "warmup_max_lr": "auto", "warmup_num_steps": "auto"}}
DECAY = {"type": "WarmupDecayLR", "params": {**WARMUP["params"], "total_num_steps": "auto"}}
ZERO3 = {"stage": 3, "reduce_bucket_size": "auto", "stage3_prefetch_bucket_size": "auto", "stage3_param_persistence_threshold": "auto"}
BASE = {**TRIO, "gradient_clipping": "auto", "zero_optimization": {"stage": 2}}

CASES = [
    ("everything_auto_and_no_flag", "", {**BASE, "optimizer": ADAMW, "scheduler": WARMUP, "bf16": {"enabled": "auto"}, "fp16": {"enabled": "auto"}}, 1),
    ("coder_fine_tuning", "--per_device_train_batch_size 16 --gradient_accumulation_steps 4 --learning_rate 2e-5 --warmup_steps 10 --bf16 True",
     {**BASE, "bf16": {"enabled": "auto"}, "optimizer": ADAMW, "scheduler": WARMUP, "zero_optimization": ZERO3}, 8),
    ("every_argument_given", "--per_device_train_batch_size 3 --gradient_accumulation_steps 5 --learning_rate 3e-4 --weight_decay 0.1 "
     "--adam_beta1 0.8 --adam_beta2 0.95 --adam_epsilon 1e-6 --max_grad_norm 0.25 --warmup_steps 7 --fp16",
     {**BASE, "optimizer": ADAMW, "scheduler": DECAY, "fp16": {"enabled": "auto"}}, 2),
    ("no_warmup_is_at_least_one", "", {**BASE, "scheduler": DECAY, "optimizer": ADAMW}, 1),
    ("warmup_as_a_share", "--warmup_steps 0.1", {**BASE, "scheduler": DECAY, "optimizer": ADAMW}, 1),
    ("warmup_share_rounds_up", "--warmup_steps 0.033", {**BASE, "scheduler": WARMUP, "optimizer": ADAMW}, 1),
    ("numbers_that_agree", "--per_device_train_batch_size 4 --gradient_accumulation_steps 2 --learning_rate 1e-4 --max_grad_norm 0.5 --bf16",
     {"train_batch_size": 32, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2, "gradient_clipping": 0.5,
      "optimizer": {"type": "AdamW", "params": {"lr": 1e-4, "betas": [0.9, 0.999], "eps": 1e-8, "weight_decay": 0.0}}, "bf16": {"enabled": True}}, 4),
    ("micro_batch_disagrees", "--per_device_train_batch_size 4", {**BASE, "train_micro_batch_size_per_gpu": 2}, 1),
    ("accumulation_disagrees", "--gradient_accumulation_steps 4", {**BASE, "gradient_accumulation_steps": 8}, 1),
    ("global_batch_disagrees", "--per_device_train_batch_size 4 --gradient_accumulation_steps 2", {**BASE, "train_batch_size": 64}, 4),
    ("clipping_disagrees", "--max_grad_norm 1.0", {**BASE, "gradient_clipping": 0.1}, 1),
    ("learning_rate_disagrees_twice", "--learning_rate 1e-5", {**BASE, "optimizer": {"type": "AdamW", "params": {"lr": 3e-5}},
     "scheduler": {"type": "WarmupLR", "params": {"warmup_max_lr": 3e-5}}}, 1),
    ("betas_disagree", "--adam_beta1 0.9 --adam_beta2 0.95", {**BASE, "optimizer": {"type": "Adam", "params": {"betas": [0.8, 0.999]}}}, 1),
    ("epsilon_and_decay_disagree", "--adam_epsilon 1e-6 --weight_decay 0.01", {**BASE, "optimizer": {"type": "AdamW", "params": {"eps": 1e-8, "weight_decay": 3e-7}}}, 1),
    ("bf16_disagrees", "--bf16 True", {**BASE, "bf16": {"enabled": False}}, 1),
    ("fp16_disagrees", "--fp16 False", {**BASE, "fp16": {"enabled": True}}, 1),
    ("steps_disagree", "--max_steps 100 --warmup_steps 10", {**BASE, "scheduler": {"type": "WarmupDecayLR", "params": {"warmup_num_steps": 20, "total_num_steps": 200}}}, 1),
    ("no_warmup_against_a_number", "--warmup_steps 0 --max_steps 100", {**BASE, "scheduler": {"type": "WarmupLR", "params": {"warmup_num_steps": 20}}}, 1),
    ("no_warmup_against_one", "--warmup_steps 0 --max_steps 100", {**BASE, "scheduler": {"type": "WarmupLR", "params": {"warmup_num_steps": 1}}}, 1),
    ("share_against_a_number", "--warmup_steps 0.05 --max_steps 100", {**BASE, "scheduler": {"type": "WarmupLR", "params": {"warmup_num_steps": 6}}}, 1),
    ("many_at_once", "--per_device_train_batch_size 2 --gradient_accumulation_steps 2 --learning_rate 1e-3 --max_grad_norm 2 --bf16",
     {"train_batch_size": 5, "train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": 1, "gradient_clipping": 1.0,
      "optimizer": {"type": "AdamW", "params": {"lr": 1e-4}}, "bf16": {"enabled": False}}, 1),
    ("keys_that_are_absent_stay_absent", "--learning_rate 1e-3 --max_grad_norm 0.3 --gradient_accumulation_steps 2", {"zero_optimization": {"stage": 1}}, 2),
    ("evaluation_in_bf16_counts_as_bf16", "--bf16_full_eval True", {**BASE, "bf16": {"enabled": "auto"}}, 1),
    ("default_against_a_number", "", {**BASE, "gradient_clipping": 0.1, "optimizer": {"type": "AdamW", "params": {"lr": 1e-4}}}, 1),
    ("whole_numbers_equal_fractions", "--max_grad_norm 1 --learning_rate 1", {**BASE, "gradient_clipping": 1.0, "optimizer": {"type": "AdamW", "params": {"lr": 1.0}}}, 1),
]
HIDDEN_SIZE = 96


class Processes(TrainingArguments):
    """TrainingArguments in a run of several processes, without starting them."""
    world_size = property(lambda self: Processes.processes)


def resolve(flags, deepspeed, processes):
    Processes.processes = processes
    with contextlib.redirect_stdout(io.StringIO()):
        (arguments,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses(
            ["--output_dir", "out", "--use_cpu", *flags.split()])
    arguments.__class__ = Processes
    total = arguments.max_steps if arguments.max_steps > 0 else 260
    config = HfTrainerDeepSpeedConfig(json.loads(json.dumps(deepspeed)))
    config.trainer_config_process(arguments)
    model = types.SimpleNamespace(config=types.SimpleNamespace(hidden_size=HIDDEN_SIZE))
    try:
        config.trainer_config_finalize(arguments, model, total)
    except ValueError:
        return total, None, config.mismatches
    return total, config.config, []


def fields():
    table = []
    for field in dataclasses.fields(TrainingArguments):
        default = None if field.default is dataclasses.MISSING else field.default
        table.append({"name": field.name, "default": default})
    return table


cases = []
for name, flags, deepspeed, processes in CASES:
    total, filled, mismatches = resolve(flags, deepspeed, processes)
    cases.append({"name": name, "flags": flags.split(), "deepspeed": deepspeed, "world_size": processes, "hidden_size": HIDDEN_SIZE,
                  "total_steps": total, "filled": filled, "mismatches": mismatches})
json.dump({"cases": cases, "training_arguments": fields()}, sys.stdout, indent=1)
print()
