// Combinations of keys: older spellings beside newer ones, and what DeepSpeed refuses or passes over.
#include <fmt/format.h>

#include "core/config/deepspeed_sections.h"

namespace athanor::config {
namespace {

using base::JsonValue;

constexpr const char* kZero = "zero_optimization.";

bool is_true(const SchemaCheck& check, const std::string& path) { return bool_setting(check, path).value_or(false); }

// cpu_offload: true is {"device": "cpu"}, false is nothing; beside the new section DeepSpeed refuses it.
void map_cpu_offload(SchemaCheck& check, const std::string& older, const std::string& section) {
  const CheckedValue* value = check.find(std::string(kZero) + older);
  if (value == nullptr) return;
  const std::string where = value->where;
  const bool on = value->value.as_bool();
  if (check.find(std::string(kZero) + section) != nullptr) {
    check.add_problem(fmt::format("{} and {} are one setting and both are given", older, section), where,
                      fmt::format("remove {}", older));
    return;
  }
  check.add_note(
      NoteKind::kDeprecated,
      fmt::format("older spelling of \"{}\": {{\"device\": \"{}\"}}, and read as that", section, on ? "cpu" : "none"),
      std::string(kZero) + older, where);
  check.set(std::string(kZero) + section + ".device", {JsonValue(on ? "cpu" : "none"), false, where});
}

void map_gather_fp16(SchemaCheck& check) {
  const std::string older = std::string(kZero) + "stage3_gather_fp16_weights_on_model_save";
  const std::string newer = std::string(kZero) + "stage3_gather_16bit_weights_on_model_save";
  const CheckedValue* value = check.find(older);
  if (value == nullptr) return;
  if (check.find(newer) != nullptr) {
    check.add_problem(fmt::format("{} and its older name are both given", newer), value->where, "remove the older one");
    return;
  }
  check.add_note(NoteKind::kDeprecated, "older name of stage3_gather_16bit_weights_on_model_save, and read as that",
                 older, value->where);
  check.set(newer, *value);
}

void check_precision(SchemaCheck& check) {
  const Setting<bool> bf16 = bool_setting(check, "bf16.enabled");
  if (is_true(check, "fp16.enabled") && bf16.value_or(false)) {
    check.add_problem("fp16 and bf16 are both enabled", bf16.where, "set one of the two to \"enabled\": false");
  }
  if (is_true(check, "fp16.enabled") && number_setting(check, "fp16.loss_scale").value_or(0.0) == 0.0) {
    for (const char* key : {"loss_scale_window", "min_loss_scale"}) {
      const Setting<std::int64_t> value = integer_setting(check, std::string("fp16.") + key);
      if (value.value_or(1) > 0) continue;
      check.add_problem(fmt::format("fp16.{} is {} and must be > 0 while the loss scale is dynamic", key, *value.value),
                        value.where, "write a value > 0, or a fixed \"loss_scale\"");
    }
  }
  const int stage = static_cast<int>(integer_setting(check, std::string(kZero) + "stage").value_or(0));
  for (const char* key :
       {"fp16.fp16_master_weights_and_grads", "bf16.bf16_master_weights_and_grads", "bf16.bf16_optimizer_states"}) {
    if (is_true(check, key) && stage == 0) {
      check.add_problem(fmt::format("{} needs ZeRO stage 1, 2 or 3", key), bool_setting(check, key).where,
                        "set zero_optimization.stage, or remove the key");
    }
  }
  if (is_true(check, "bf16.bf16_optimizer_states") && !is_true(check, "bf16.bf16_master_weights_and_grads")) {
    check.add_problem("bf16.bf16_optimizer_states needs bf16_master_weights_and_grads",
                      bool_setting(check, "bf16.bf16_optimizer_states").where, "set it too, or remove the key");
  }
}

// "fp16", "bf16" or "fp32" of any spelling of a number format.
std::string short_type(const std::string& name) {
  if (name.find("bf") != std::string::npos) return "bf16";
  if (name == "half" || name.find("16") != std::string::npos) return "fp16";
  return name.find('8') != std::string::npos ? "int8" : "fp32";
}

void check_autocast(SchemaCheck& check) {
  const Setting<bool> enabled = bool_setting(check, "torch_autocast.enabled");
  if (!enabled.value_or(false)) return;
  const Setting<std::string> dtype = text_setting(check, "torch_autocast.dtype");
  if (!dtype.value) {
    check.add_problem("torch_autocast is enabled without a dtype", enabled.where, "write \"dtype\": \"bfloat16\"");
    return;
  }
  const std::string type = short_type(*dtype.value);
  for (const char* mode : {"fp16", "bf16"}) {
    if (is_true(check, std::string(mode) + ".enabled") && type != mode) {
      check.add_problem(fmt::format("torch_autocast.dtype is {} while {} is enabled", *dtype.value, mode), dtype.where,
                        fmt::format("write the dtype of {}, or switch torch_autocast off", mode));
      return;
    }
  }
  check.add_note(NoteKind::kMapped,
                 fmt::format("read as {} precision with fp32 master weights, which is what autocast computes", type),
                 "torch_autocast", enabled.where);
}

void check_param_type(SchemaCheck& check) {
  const Setting<std::string> type = text_setting(check, "data_types.param_dtype");
  const Setting<bool> fp16 = bool_setting(check, "fp16.enabled");
  const Setting<bool> bf16 = bool_setting(check, "bf16.enabled");
  if (!type.value || fp16.is_auto || bf16.is_auto) return;
  const std::string mode = fp16.value_or(false) ? "fp16" : bf16.value_or(false) ? "bf16" : "fp32";
  if (short_type(*type.value) == mode) return;
  check.add_problem(fmt::format("data_types.param_dtype is {} while the precision is {}", *type.value, mode),
                    type.where, "remove it; fp16 and bf16 decide");
}

void check_reduction(SchemaCheck& check, int stage) {
  if (stage < 2 || !bool_setting(check, std::string(kZero) + "reduce_scatter").value_or(true)) return;
  const char* remedy = "remove it, or set zero_optimization.reduce_scatter to false";
  const Setting<bool> prescale = bool_setting(check, "prescale_gradients");
  if (prescale.value_or(false)) {
    check.add_problem(fmt::format("prescale_gradients does not go with ZeRO stage {} and reduce_scatter", stage),
                      prescale.where, remedy);
  }
  const Setting<double> factor = number_setting(check, "gradient_predivide_factor");
  if (factor.value_or(1.0) != 1.0) {
    check.add_problem(fmt::format("gradient_predivide_factor does not go with ZeRO stage {} and reduce_scatter", stage),
                      factor.where, remedy);
  }
}

void check_offload(SchemaCheck& check, int stage) {
  for (const char* section : {"offload_optimizer", "offload_param"}) {
    const Setting<std::string> device = text_setting(check, std::string(kZero) + section + ".device");
    if (device.value_or("none") == "nvme") {
      check.add_problem(fmt::format("{}.device is \"nvme\", and offloading to a disk is not done here", section),
                        device.where, "write \"cpu\" (host memory) or \"none\"");
    } else if (device.value_or("none") == "cpu" && stage < (section == std::string("offload_param") ? 3 : 1)) {
      check.add_note(NoteKind::kIgnored,
                     fmt::format("not used at ZeRO stage {}: it needs stage {}", stage,
                                 section == std::string("offload_param") ? "3" : "1 or more"),
                     std::string(kZero) + section, device.where);
    }
  }
  const Setting<double> ratio = number_setting(check, std::string(kZero) + "offload_optimizer.ratio");
  if (ratio.value_or(1.0) < 1.0 && stage != 3) {
    check.add_problem("offload_optimizer.ratio below 1 needs ZeRO stage 3", ratio.where, "write 1.0, or \"stage\": 3");
  }
}

}  // namespace

void map_older_spellings(SchemaCheck& check) {
  map_cpu_offload(check, "cpu_offload", "offload_optimizer");
  map_cpu_offload(check, "cpu_offload_param", "offload_param");
  map_gather_fp16(check);
}

void check_rules(SchemaCheck& check) {
  const int stage = static_cast<int>(integer_setting(check, std::string(kZero) + "stage").value_or(0));
  check_precision(check);
  check_autocast(check);
  check_param_type(check);
  check_reduction(check, stage);
  check_offload(check, stage);
  const Setting<bool> norm = bool_setting(check, std::string(kZero) + "compute_grad_norm");
  if (!norm.value_or(true) && stage != 1 && stage != 2) {
    check.add_problem("compute_grad_norm: false needs ZeRO stage 1 or 2", norm.where, "remove it");
  }
}

}  // namespace athanor::config
