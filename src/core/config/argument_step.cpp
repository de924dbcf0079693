// What a step is made of: optimizer, schedule, precision.
#include <fmt/format.h>

#include "core/base/nearest.h"
#include "core/config/argument_pairs.h"
#include "core/config/argument_sections.h"
#include "core/config/number_text.h"

namespace athanor::config::detail {

namespace {

struct OptimizerName {
  const char* name;
  OptimizerKind kind;
};
constexpr OptimizerName kOptimizerNames[] = {
    {"adamw_torch_fused", OptimizerKind::kAdamW},
    {"adamw_torch", OptimizerKind::kAdamW},
    {"adamw_hf", OptimizerKind::kAdamW},
    {"adamw", OptimizerKind::kAdamW},
    {"adamw_apex_fused", OptimizerKind::kAdamW},
    {"adam", OptimizerKind::kAdam},
    {"sgd", OptimizerKind::kSgd},
    {"lion", OptimizerKind::kLion},
    {"lion_32bit", OptimizerKind::kLion},
};

// transformers' OptimizerNames that are not done.
constexpr const char* kOptimizersElsewhere[] = {"adafactor",
                                                "adagrad",
                                                "adalomo",
                                                "adamw_8bit",
                                                "adamw_anyprecision",
                                                "adamw_bnb_8bit",
                                                "adamw_torch_4bit",
                                                "adamw_torch_8bit",
                                                "adamw_torch_npu_fused",
                                                "adamw_torch_xla",
                                                "ademamix",
                                                "ademamix_8bit",
                                                "apollo_adamw",
                                                "apollo_adamw_layerwise",
                                                "galore_adafactor",
                                                "galore_adafactor_layerwise",
                                                "galore_adamw",
                                                "galore_adamw_8bit",
                                                "galore_adamw_8bit_layerwise",
                                                "galore_adamw_layerwise",
                                                "grokadamw",
                                                "lion_8bit",
                                                "lomo",
                                                "paged_adamw_32bit",
                                                "paged_adamw_8bit",
                                                "paged_ademamix_32bit",
                                                "paged_ademamix_8bit",
                                                "paged_lion_32bit",
                                                "paged_lion_8bit",
                                                "rmsprop",
                                                "rmsprop_bnb",
                                                "rmsprop_bnb_32bit",
                                                "rmsprop_bnb_8bit",
                                                "schedule_free_adamw",
                                                "schedule_free_radam",
                                                "schedule_free_sgd",
                                                "stable_adamw"};

OptimizerKind read_kind(ValueReader& read) {
  const std::string name = read.text("optim");
  std::vector<std::string> known;
  for (const OptimizerName& entry : kOptimizerNames) {
    if (name == entry.name) return entry.kind;
    known.emplace_back(entry.name);
  }
  const std::string choice = fmt::format("use one of {}", fmt::join(known, ", "));
  for (const char* elsewhere : kOptimizersElsewhere) {
    if (name != elsewhere) continue;
    read.problem(fmt::format("the optimizer {} is known to Hugging Face and not done here", name), read.where("optim"),
                 choice);
    return OptimizerKind::kAdamW;
  }
  const std::optional<std::string> nearest = base::nearest_name(name, known);
  read.problem(fmt::format("there is no optimizer {}", name), read.where("optim"),
               nearest.has_value() ? fmt::format("did you mean {}?", *nearest) : choice);
  return OptimizerKind::kAdamW;
}

// True when the optimizer has such an option with such a value.
bool set_option(OptimizerConfig& optimizer, const std::string& key, const std::string& value) {
  const std::optional<double> number = parse_number(value);
  if (optimizer.kind != OptimizerKind::kSgd) return false;
  if (key == "momentum" && number.has_value()) {
    optimizer.momentum = *number;
  } else if (key == "dampening" && number.has_value()) {
    optimizer.dampening = *number;
  } else if (key == "nesterov" && parse_switch(value).has_value()) {
    optimizer.nesterov = *parse_switch(value);
  } else {
    return false;
  }
  return true;
}

}  // namespace

OptimizerConfig read_optimizer(ValueReader& read) {
  OptimizerConfig optimizer;
  optimizer.kind = read_kind(read);
  optimizer.learning_rate = read.number("learning_rate");
  optimizer.weight_decay = read.number("weight_decay");
  optimizer.beta1 = read.number("adam_beta1");
  optimizer.beta2 = read.number("adam_beta2");
  optimizer.epsilon = read.number("adam_epsilon");
  for (const auto& [key, value] : read_pairs(read, "optim_args")) {
    if (set_option(optimizer, key, value)) continue;
    read.problem(fmt::format("optim_args {}={} means nothing to this optimizer", key, value), read.where("optim_args"),
                 "sgd takes momentum, dampening and nesterov; the others have arguments of their own");
  }
  return optimizer;
}

ScheduleConfig read_schedule(ValueReader& read) {
  ScheduleConfig schedule;
  schedule.type = read.text("lr_scheduler_type");
  schedule.parameters = read.object("lr_scheduler_kwargs");
  schedule.warmup_steps = read.number("warmup_steps");
  schedule.warmup_ratio = read.number("warmup_ratio");
  return schedule;
}

PrecisionConfig read_precision(ValueReader& read) {
  PrecisionConfig precision;
  const bool bf16 = read.flag("bf16");
  const bool fp16 = read.flag("fp16");
  const std::string mixed = read.choice("mixed_precision");
  precision.tf32 = read.flag("tf32");
  const auto contradiction = [&](const std::string& one, const std::string& other) {
    read.problem(fmt::format("{} and {} contradict each other", one, other),
                 fmt::format("{} and {}", read.where(one.substr(0, one.find(' '))),
                             read.where(other.substr(0, other.find(' ')))),
                 "keep one of them (bf16 needs no loss scaling)");
  };
  if (bf16 && fp16) contradiction("bf16", "fp16");
  if (!mixed.empty()) {
    for (const auto& [name, on] : {std::pair<std::string, bool>{"bf16", bf16}, {"fp16", fp16}}) {
      const bool off_but_chosen = read.given(name) && !on && mixed == name;
      if (off_but_chosen || (on && mixed != name)) {
        contradiction("mixed_precision " + mixed, name + (on ? " true" : " false"));
      }
    }
  }
  precision.automatic = mixed == "auto";
  if (bf16 || mixed == "bf16") precision.compute = Precision::kBfloat16;
  if (fp16 || mixed == "fp16") precision.compute = Precision::kFloat16;
  return precision;
}

}  // namespace athanor::config::detail
