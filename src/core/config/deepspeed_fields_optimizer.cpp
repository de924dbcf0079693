// The optimizer and scheduler sections of the DeepSpeed schema. Which parameter belongs to which type is in
// deepspeed_optimizer.cpp and deepspeed_scheduler.cpp.
#include "core/config/deepspeed_rows.h"

namespace athanor::config {
namespace {

using enum FieldType;
constexpr AutoFilled kFilled = AutoFilled::kYes;
constexpr AutoFilled kNotFilled = AutoFilled::kNo;

}  // namespace

void add_optimizer_rows(std::vector<Field>& rows) {
  add_rows(
      rows, "", Support::kHonoured, "",
      {
          {"optimizer", kObject, "", "", "",
           "The optimizer. All parameters are one group, so weight decay reaches biases and norms too; without this "
           "section the Hugging Face arguments decide, and they leave those out.",
           kNotFilled, "", "scheduler"},
          {"optimizer.type", kText, "", "", "",
           "AdamW, Adam, SGD or Lion. Adam means AdamW unless params.adam_w_mode is false.", kNotFilled, "",
           "optimizer.params"},
          {"optimizer.params", kObject, "", "", "", "Parameters of the optimizer."},
          {"optimizer.params.lr", kNumber, "0.001", ">= 0", "", "Learning rate.", kFilled, "", "scheduler.params"},
          {"optimizer.params.betas", kList, "[0.9, 0.999]", "0..1", "",
           "Decay rates of the running averages: two numbers below 1.", kFilled},
          {"optimizer.params.eps", kNumber, "1e-08", ">= 0", "", "Added to the denominator.", kFilled},
          {"optimizer.params.weight_decay", kNumber, "0.0", ">= 0", "",
           "Weight decay (torch_adam with decoupled decay: 0.01 when absent).", kFilled},
          {"optimizer.params.adam_w_mode", kBool, "true", "", "",
           "For type Adam: true decays weights apart from the gradient (AdamW), false adds L2 to it."},
          {"optimizer.params.torch_adam", kBool, "false", "", "", "Takes torch's defaults for what is not written."},
          {"optimizer.params.bias_correction", kBool, "true", "", "", "Corrects the averages for their start at zero."},
          {"optimizer.params.momentum", kNumber, "0.0", ">= 0", "", "SGD: momentum."},
          {"optimizer.params.dampening", kNumber, "0.0", "", "", "SGD: dampening of momentum."},
          {"optimizer.params.nesterov", kBool, "false", "", "", "SGD: Nesterov momentum."},
      });
  add_rows(rows, "optimizer.params", Support::kHarmless, "it chooses an implementation, not a result",
           {
               {"set_grad_none", kBool, "true", "", "", "Drops gradients instead of filling them with zeros."},
               {"fp32_optimizer_states", kBool, "true", "", "", "Keeps moments in fp32, as is always done here."},
               {"foreach", kBool, "null", "", "", "Updates tensors in groups."},
               {"fused", kBool, "null", "", "", "Updates in one kernel."},
               {"capturable", kBool, "false", "", "", "Can be captured in a CUDA graph."},
               {"differentiable", kBool, "false", "", "", "Keeps the update differentiable."},
           });
  add_rows(rows, "optimizer.params", Support::kRefused,
           "The AMSGrad variant is not done here, nor by DeepSpeed's own Adam. Remove it.",
           {{"amsgrad", kBool, "false", "", "", "Uses the largest second moment so far."}});
  add_rows(rows, "optimizer.params", Support::kRefused,
           "Loss is minimised here. Remove it and change the sign of the loss.",
           {{"maximize", kBool, "false", "", "", "Climbs instead of descending."}});
  add_rows(
      rows, "optimizer.params", Support::kRefused,
      "It is no optimizer parameter; DeepSpeed refuses it too. Write \"gradient_clipping\" at the top level instead.",
      {{"max_grad_norm", kNumber, "0", ">= 0", "L2 norm", "Clipping in old optimizers."}});
  add_rows(rows, "optimizer", Support::kHarmless, "it chooses an implementation, not a result",
           {{"legacy_fusion", kBool, "false", "", "", "Uses the older fused fp16 optimizer."}});
  add_rows(rows, "", Support::kHarmless, "every optimizer that is supported here works with every stage",
           {
               {"zero_allow_untested_optimizer", kBool, "false", "", "",
                "Lets ZeRO run with an optimizer it was not tested with."},
               {"zero_force_ds_cpu_optimizer", kBool, "true", "", "",
                "Requires DeepSpeed's CPU Adam when the optimizer is offloaded."},
           });
}

void add_scheduler_rows(std::vector<Field>& rows) {
  add_rows(rows, "", Support::kHonoured, "",
           {
               {"scheduler", kObject, "", "", "",
                "The learning-rate schedule. Without this section lr_scheduler_type decides.", kNotFilled, "",
                "optimizer.params.lr"},
               {"scheduler.type", kText, "", "", "",
                "WarmupLR, WarmupDecayLR, WarmupCosineLR, LRRangeTest or OneCycle; capitals count.", kNotFilled, "",
                "scheduler.params"},
               {"scheduler.params", kObject, "", "", "", "Parameters of the schedule."},
           });
  add_rows(
      rows, "scheduler.params", Support::kHonoured, "",
      {
          {"warmup_min_lr", kNumber, "0.0", ">= 0", "", "Learning rate at the start of warm-up.", kFilled},
          {"warmup_max_lr", kNumber, "", ">= 0", "",
           "Learning rate after warm-up (WarmupLR: the optimizer's; WarmupDecayLR: 0.001).", kFilled},
          {"warmup_num_steps", kInteger, "1000", "> 0", "optimizer steps", "Length of warm-up.", kFilled},
          {"warmup_type", kChoice, "log", "log|linear", "", "Shape of warm-up. The default rises fast at first."},
          {"total_num_steps", kInteger, "", "> 0", "optimizer steps", "Length of the whole schedule.", kFilled},
          {"warmup_min_ratio", kNumber, "0.0", ">= 0", "", "WarmupCosineLR: share of the learning rate at the start."},
          {"cos_min_ratio", kNumber, "0.0001", ">= 0", "", "WarmupCosineLR: share of the learning rate at the end."},
          {"lr_range_test_min_lr", kNumber, "0.001", ">= 0", "", "LRRangeTest: first learning rate."},
          {"lr_range_test_step_size", kInteger, "2000", "> 0", "optimizer steps", "LRRangeTest: steps between rises."},
          {"lr_range_test_step_rate", kNumber, "1.0", "", "", "LRRangeTest: rise per interval."},
          {"lr_range_test_staircase", kBool, "false", "", "", "LRRangeTest: rises in steps instead of steadily."},
          {"cycle_min_lr", kNumber, "", ">= 0", "", "OneCycle: lowest learning rate."},
          {"cycle_max_lr", kNumber, "", ">= 0", "", "OneCycle: highest learning rate."},
          {"decay_lr_rate", kNumber, "0.0", ">= 0", "", "OneCycle: decay after the cycle."},
          {"cycle_first_step_size", kNumber, "2000", "> 0", "optimizer steps", "OneCycle: length of the rise."},
          {"cycle_second_step_size", kNumber, "null", ">= 0", "optimizer steps",
           "OneCycle: length of the fall; null as the rise."},
          {"cycle_first_stair_count", kNumber, "0", ">= 0", "", "OneCycle: stairs of the rise; 0 is steady."},
          {"cycle_second_stair_count", kNumber, "null", ">= 0", "", "OneCycle: stairs of the fall; null as the rise."},
          {"decay_step_size", kNumber, "0", ">= 0", "optimizer steps", "OneCycle: interval of the decay; 0 is none."},
          {"cycle_momentum", kBool, "true", "", "", "OneCycle: momentum moves against the learning rate."},
          {"cycle_min_mom", kNumber, "0.8", "0..1", "", "OneCycle: lowest momentum."},
          {"cycle_max_mom", kNumber, "0.9", "0..1", "", "OneCycle: highest momentum."},
          {"decay_mom_rate", kNumber, "0.0", ">= 0", "", "OneCycle: growth of momentum after the cycle."},
      });
  add_rows(rows, "scheduler.params", Support::kRefused,
           "A run that is resumed knows its own position. Remove it and use --resume_from_checkpoint.",
           {{"last_batch_iteration", kInteger, "-1", ">= -1", "optimizer steps", "Position to start from."}});
}

}  // namespace athanor::config
