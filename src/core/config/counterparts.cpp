#include "core/config/counterparts.h"

namespace athanor::config {

const std::vector<Counterpart>& counterparts() {
  static const std::vector<Counterpart> pairs = {
      {"per_device_train_batch_size", "train_micro_batch_size_per_gpu"},
      {"per_device_train_batch_size", "train_batch_size"},
      {"gradient_accumulation_steps", "gradient_accumulation_steps"},
      {"gradient_accumulation_steps", "train_batch_size"},
      {"max_grad_norm", "gradient_clipping"},
      {"optim", "optimizer.type"},
      {"learning_rate", "optimizer.params.lr"},
      {"learning_rate", "scheduler.params.warmup_max_lr"},
      {"adam_beta1", "optimizer.params.betas"},
      {"adam_beta2", "optimizer.params.betas"},
      {"adam_epsilon", "optimizer.params.eps"},
      {"weight_decay", "optimizer.params.weight_decay"},
      {"lr_scheduler_type", "scheduler.type"},
      {"lr_scheduler_kwargs", "scheduler.params"},
      {"warmup_steps", "scheduler.params.warmup_num_steps"},
      {"warmup_ratio", "scheduler.params.warmup_num_steps"},
      {"max_steps", "scheduler.params.total_num_steps"},
      {"bf16", "bf16.enabled"},
      {"fp16", "fp16.enabled"},
      {"mixed_precision", "bf16.enabled"},
      {"mixed_precision", "fp16.enabled"},
      {"dataloader_drop_last", "dataloader_drop_last"},
      {"report_to", "tensorboard.enabled"},
      {"logging_dir", "tensorboard.output_path"},
  };
  return pairs;
}

std::vector<std::string> counterparts_of(const std::string& name) {
  std::vector<std::string> names;
  for (const Counterpart& pair : counterparts()) {
    if (name == pair.argument) names.emplace_back(pair.deepspeed_key);
    if (name == pair.deepspeed_key) names.emplace_back(pair.argument);
  }
  return names;
}

}  // namespace athanor::config
