// The optimizer section: names by DeepSpeed's rules, parameters by type, DeepSpeed's defaults.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/nearest.h"
#include "core/config/deepspeed_sections.h"

namespace athanor::config {
namespace {

using base::JsonValue;

constexpr double kDefaultLearningRate = 1e-3;
constexpr double kTorchAdamWeightDecay = 0.01;  // torch.optim.AdamW; DeepSpeed's own Adam has 0
constexpr const char* kInstead = "write \"AdamW\", \"Adam\", \"SGD\" or \"Lion\"";

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c | 0x20 : c; });
  return text;
}

// A supported optimizer in its usual capitals; "" otherwise. DeepSpeed's own names count in any case, torch's do not.
std::string supported_name(const std::string& type) {
  const std::string folded = lower(type);
  if (folded == "adamw") return "AdamW";
  if (folded == "adam") return "Adam";
  if (folded == "lion") return "Lion";
  return type == "SGD" ? "SGD" : "";
}

void refuse_type(SchemaCheck& check, const std::string& type, const std::string& where) {
  const std::string folded = lower(type);
  for (const char* removed : {"onebitadam", "onebitlamb", "zerooneadam"}) {
    if (folded == removed) {
      check.add_problem(
          fmt::format("optimizer {} was removed from DeepSpeed with its compressed communication", type), where,
          "write \"AdamW\" and remove freeze_step, var_freeze_step, cuda_aware, comm_backend_name and their like");
      return;
    }
  }
  for (const char* other : {"adagrad", "lamb", "muon", "muadam", "muadamw", "musgd"}) {
    if (folded == other) {
      check.add_problem(fmt::format("optimizer {} is one of DeepSpeed's that are not done here", type), where,
                        kInstead);
      return;
    }
  }
  for (const char* torch : {"ASGD", "Adadelta", "Adafactor", "Adagrad", "Adamax", "LBFGS", "NAdam", "RAdam", "RMSprop",
                            "Rprop", "SparseAdam"}) {
    if (type == torch) {
      check.add_problem(fmt::format("optimizer {} is one of torch's that are not done here", type), where, kInstead);
      return;
    }
  }
  // DeepSpeedCPUAdam, FusedAdam, adamw_torch, ...: the name inside the name.
  const std::vector<std::string> names = {"AdamW", "Adam", "SGD", "Lion"};
  std::string inside;
  for (const std::string& name : names) {
    if (inside.empty() && folded.find(lower(name)) != std::string::npos) inside = name;
  }
  if (inside.empty()) inside = base::nearest_name(type, names).value_or("");
  check.add_problem(fmt::format("{} is no optimizer that DeepSpeed knows", excerpt(JsonValue(type))), where,
                    inside.empty() ? std::string(kInstead)
                                   : fmt::format("write \"{}\", or one of {}", inside, fmt::join(names, ", ")));
}

struct Variant {
  OptimizerKind kind = OptimizerKind::kAdamW;
  bool is_torch_adam = false;
  std::vector<std::string> taken;
};

bool flag_or(const JsonValue& parameters, const char* key, bool otherwise) {
  const JsonValue* value = parameters.find(key);
  return value != nullptr && value->is_bool() ? value->as_bool() : otherwise;
}

Variant variant_of(const std::string& type, const JsonValue& parameters) {
  if (type == "Lion")
    return {OptimizerKind::kLion, false, {"lr", "betas", "weight_decay", "set_grad_none", "fp32_optimizer_states"}};
  if (type == "SGD") {
    return {OptimizerKind::kSgd,
            false,
            {"lr", "momentum", "dampening", "weight_decay", "nesterov", "foreach", "differentiable", "fused"}};
  }
  Variant variant;
  // "Adam" decays apart from the gradient unless told otherwise; "AdamW" always does.
  if (type == "Adam" && !flag_or(parameters, "adam_w_mode", true)) variant.kind = OptimizerKind::kAdam;
  variant.is_torch_adam = flag_or(parameters, "torch_adam", false);
  variant.taken = {"lr", "betas", "eps", "weight_decay", "adam_w_mode", "torch_adam", "fp32_optimizer_states"};
  if (variant.is_torch_adam) {
    variant.taken.insert(variant.taken.end(), {"foreach", "fused", "capturable", "differentiable"});
  } else {
    variant.taken.insert(variant.taken.end(), {"bias_correction", "set_grad_none"});
  }
  return variant;
}

Setting<std::vector<double>> read_betas(SchemaCheck& check) {
  const CheckedValue* value = check.find("optimizer.params.betas");
  if (value == nullptr) return {};
  Setting<std::vector<double>> betas{.value = std::nullopt, .is_auto = value->is_auto, .where = value->where};
  if (value->is_auto) return betas;
  std::vector<double> numbers;
  for (const JsonValue& item : value->value.items()) {
    if (!item.is_number() || !(item.as_double() >= 0.0 && item.as_double() < 1.0)) break;
    numbers.push_back(item.as_double());
  }
  if (numbers.size() != 2 || value->value.items().size() != 2) {
    check.add_problem(
        fmt::format("optimizer.params.betas is {} and must be two numbers from 0 to below 1", excerpt(value->value)),
        value->where, "write [0.9, 0.999] or your own two");
    return {};
  }
  betas.value = numbers;
  return betas;
}

void read_sgd(SchemaCheck& check, OptimizerConfig& values) {
  values.momentum = number_setting(check, "optimizer.params.momentum").value_or(0.0);
  values.dampening = number_setting(check, "optimizer.params.dampening").value_or(0.0);
  const Setting<bool> nesterov = bool_setting(check, "optimizer.params.nesterov");
  values.nesterov = nesterov.value_or(false);
  if (values.nesterov && (values.momentum <= 0.0 || values.dampening != 0.0)) {
    check.add_problem("Nesterov momentum needs momentum above 0 and dampening 0", nesterov.where,
                      "set \"momentum\" and remove \"dampening\", or remove \"nesterov\"");
  }
}

}  // namespace

std::optional<DeepSpeedOptimizer> read_optimizer(SchemaCheck& check) {
  const CheckedValue* section = check.find("optimizer");
  if (section == nullptr) return std::nullopt;
  const CheckedValue* type = check.find("optimizer.type");
  if (type == nullptr) {
    if (section->value.find("type") == nullptr) {
      check.add_problem("optimizer has no type (DeepSpeed would pass over the whole section)", section->where,
                        "write \"type\": \"AdamW\" into it, or remove it");
    }
    return std::nullopt;
  }
  DeepSpeedOptimizer optimizer;
  optimizer.type = supported_name(type->value.as_string());
  optimizer.where = type->where;
  if (optimizer.type.empty()) {
    refuse_type(check, type->value.as_string(), type->where);
    return std::nullopt;
  }
  const CheckedValue* written = check.find("optimizer.params");
  const JsonValue parameters = written != nullptr ? written->value : JsonValue::object();
  const Variant variant = variant_of(optimizer.type, parameters);
  check.check_parameters(parameters, "optimizer.params",
                         variant.is_torch_adam ? "torch's " + optimizer.type : optimizer.type, variant.taken);

  optimizer.learning_rate = number_setting(check, "optimizer.params.lr");
  optimizer.betas = read_betas(check);
  optimizer.epsilon = number_setting(check, "optimizer.params.eps");
  optimizer.weight_decay = number_setting(check, "optimizer.params.weight_decay");
  OptimizerConfig& values = optimizer.values;
  values.kind = variant.kind;
  values.decay_groups = DecayGroups::kAll;
  values.learning_rate = optimizer.learning_rate.value_or(kDefaultLearningRate);
  if (optimizer.betas.value) {
    values.beta1 = optimizer.betas.value->at(0);
    values.beta2 = optimizer.betas.value->at(1);
  }
  values.epsilon = optimizer.epsilon.value_or(values.epsilon);
  const bool torch_decay = variant.is_torch_adam && variant.kind == OptimizerKind::kAdamW;
  values.weight_decay = optimizer.weight_decay.value_or(torch_decay ? kTorchAdamWeightDecay : 0.0);
  values.bias_correction = bool_setting(check, "optimizer.params.bias_correction").value_or(true);
  if (variant.kind == OptimizerKind::kSgd) read_sgd(check, values);
  return optimizer;
}

}  // namespace athanor::config
