// Unknown keys: what people mean by them.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/nearest.h"
#include "core/config/deepspeed_fields.h"
#include "core/config/deepspeed_schema.h"

namespace athanor::config {
namespace {

struct Misunderstanding {
  const char* section;
  const char* key;
  const char* remedy;
};

// Keys of other programs, of other places, and of years ago.
constexpr Misunderstanding kMisunderstandings[] = {
    {"", "micro_batch_size_per_gpu", "write \"train_micro_batch_size_per_gpu\""},
    {"", "train_step_batch_size", "write \"train_micro_batch_size_per_gpu\""},
    {"", "train_micro_batch_size", "write \"train_micro_batch_size_per_gpu\""},
    {"", "micro_batch_size", "write \"train_micro_batch_size_per_gpu\""},
    {"", "batch_size", "write \"train_batch_size\""},
    {"", "gradient_accumulation", "write \"gradient_accumulation_steps\""},
    {"", "max_grad_norm", "write \"gradient_clipping\""},
    {"", "clip_grad", "write \"gradient_clipping\""},
    {"", "lr_scheduler", "write \"scheduler\""},
    {"", "lr", "write it into optimizer.params as \"lr\", or pass --learning_rate"},
    {"", "learning_rate", "write it into optimizer.params as \"lr\", or pass --learning_rate"},
    {"", "lr-decay-style", "write a \"scheduler\" section, or pass --lr_scheduler_type"},
    {"", "lr_decay_style", "write a \"scheduler\" section, or pass --lr_scheduler_type"},
    {"", "warmup", "write warmup_num_steps into scheduler.params, or pass --warmup_steps"},
    {"", "min_lr", "write a \"scheduler\" section, or pass --lr_scheduler_kwargs"},
    {"", "epochs", "remove it and pass --num_train_epochs"},
    {"", "num_train_epochs", "remove it and pass --num_train_epochs"},
    {"", "max_steps", "remove it and pass --max_steps"},
    {"", "seed", "remove it and pass --seed"},
    {"", "num_gpus", "remove it; the launcher decides (--nproc_per_node)"},
    {"", "num_nodes", "remove it; the launcher decides"},
    {"", "world_size", "remove it; the launcher decides (--nproc_per_node)"},
    {"", "distributed_training", "remove it; the launcher decides (--nproc_per_node)"},
    {"", "local_rank", "remove it; the launcher decides"},
    {"", "checkpointing", "remove it and pass --save_steps and --save_total_limit"},
    {"", "swap_tensor", "write \"offload_optimizer\" or \"offload_param\" into \"zero_optimization\""},
    {"", "sequence_parallel", "remove it; sequence parallelism is not done here"},
    {"", "comms_config", "write \"comms_logger\""},
    {"", "monitor_config", "write the monitor's own section, \"tensorboard\", at the top level"},
    {"", "gradient_checkpointing", "remove it and pass --gradient_checkpointing true"},
    {"", "zero", "write \"zero_optimization\""},
    {"", "precision", "write \"bf16\": {\"enabled\": true} or \"fp16\": {\"enabled\": true}"},
    {"", "dtype", "write \"bf16\": {\"enabled\": true} or \"fp16\": {\"enabled\": true}"},
    {"checkpoint", "save_checkpoint_steps", "remove it and pass --save_steps"},
    {"checkpoint", "checkpoint_dir", "remove it and pass --output_dir"},
    {"fp16", "opt_level", "remove it; it belongs to apex, and there is one fp16 mode"},
    {"fp16", "type", "remove it; there is one fp16 mode"},
    {"fp16", "loss_scale_power", "write \"initial_scale_power\""},
    {"zero_optimization", "cpu_offload_params", "write \"offload_param\": {\"device\": \"cpu\"}"},
    {"zero_optimization", "cpu_offload_optimizer", "write \"offload_optimizer\": {\"device\": \"cpu\"}"},
    {"tensor_parallel", "tp_size", "write \"autotp_size\"; only 1 is done here"},
    {"tensor_parallel", "tp_config", "remove it; tensor parallelism is not done here"},
    {"optimizer.params", "learning_rate", "write \"lr\""},
    {"optimizer.params", "beta1", "write \"betas\": [beta1, beta2]"},
    {"optimizer.params", "beta2", "write \"betas\": [beta1, beta2]"},
    {"optimizer.params", "wd", "write \"weight_decay\""},
    {"optimizer.params", "use_triton", "remove it; it chooses an implementation that is not here"},
    {"scheduler.params", "warmup_steps", "write \"warmup_num_steps\""},
    {"scheduler.params", "num_warmup_steps", "write \"warmup_num_steps\""},
    {"scheduler.params", "total_steps", "write \"total_num_steps\""},
    {"scheduler.params", "num_training_steps", "write \"total_num_steps\""},
};

std::pair<std::string, std::string> split_path(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string::npos) return {"", path};
  return {path.substr(0, dot), path.substr(dot + 1)};
}

// The one section that has an honoured key of this name, or "".
std::string section_of_key(const std::string& key) {
  std::string section;
  for (const Field& field : deepspeed_fields()) {
    const auto [parent, leaf] = split_path(field.name);
    if (leaf != key || field.support != Support::kHonoured || parent.empty()) continue;
    if (!section.empty()) return "";
    section = parent;
  }
  return section;
}

bool is_top_level_key(const std::string& key) {
  const std::vector<Field>& rows = deepspeed_fields();
  return std::any_of(rows.begin(), rows.end(),
                     [&](const Field& field) { return field.name == key && field.support == Support::kHonoured; });
}

}  // namespace

std::string unknown_key_remedy(const std::string& section, const std::string& key) {
  for (const Misunderstanding& known : kMisunderstandings) {
    if (section == known.section && key == known.key) return known.remedy;
  }
  if (!section.empty() && is_top_level_key(key)) return fmt::format("move it out of {} to the top level", section);
  const std::string other = section_of_key(key);
  if (!other.empty() && other != section) return fmt::format("move it into {}", other);
  std::vector<std::string> names;
  for (const Field& field : deepspeed_fields()) {
    const auto [parent, leaf] = split_path(field.name);
    if (parent != section) continue;
    names.push_back(leaf);
    names.insert(names.end(), field.aliases.begin(), field.aliases.end());
  }
  const std::optional<std::string> nearest = base::nearest_name(key, names);
  return nearest ? fmt::format("write \"{}\"", *nearest) : "remove it";
}

}  // namespace athanor::config
