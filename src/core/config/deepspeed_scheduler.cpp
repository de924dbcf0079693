// The scheduler section: names with their exact capitals, parameters by type.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/nearest.h"
#include "core/config/deepspeed_sections.h"

namespace athanor::config {
namespace {

using base::JsonValue;

struct ScheduleType {
  const char* name;
  std::vector<std::string> taken;
  std::vector<std::string> required;
};

const std::vector<ScheduleType>& schedule_types() {
  static const std::vector<ScheduleType> types = {
      {"WarmupLR", {"warmup_min_lr", "warmup_max_lr", "warmup_num_steps", "warmup_type"}, {}},
      {"WarmupDecayLR",
       {"total_num_steps", "warmup_min_lr", "warmup_max_lr", "warmup_num_steps", "warmup_type"},
       {"total_num_steps"}},
      {"WarmupCosineLR",
       {"total_num_steps", "warmup_min_ratio", "warmup_num_steps", "cos_min_ratio", "warmup_type"},
       {"total_num_steps"}},
      {"LRRangeTest",
       {"lr_range_test_min_lr", "lr_range_test_step_size", "lr_range_test_step_rate", "lr_range_test_staircase"},
       {}},
      {"OneCycle",
       {"cycle_min_lr", "cycle_max_lr", "decay_lr_rate", "cycle_first_step_size", "cycle_second_step_size",
        "cycle_first_stair_count", "cycle_second_stair_count", "decay_step_size", "cycle_momentum", "cycle_min_mom",
        "cycle_max_mom", "decay_mom_rate"},
       {"cycle_min_lr", "cycle_max_lr"}},
  };
  return types;
}

// torch.optim.lr_scheduler classes and the lr_scheduler_type that does the same or nearly so; "" where nothing does.
struct TorchSchedule {
  const char* name;
  const char* instead;
};

constexpr TorchSchedule kTorchSchedules[] = {
    {"CosineAnnealingLR", "cosine"},
    {"CosineAnnealingWarmRestarts", "cosine_with_restarts"},
    {"LinearLR", "linear"},
    {"ConstantLR", "constant"},
    {"PolynomialLR", "polynomial"},
    {"ReduceLROnPlateau", "reduce_lr_on_plateau"},
    {"StepLR", ""},
    {"MultiStepLR", ""},
    {"ExponentialLR", ""},
    {"LambdaLR", ""},
    {"OneCycleLR", ""},
    {"CyclicLR", ""},
    {"MultiplicativeLR", ""},
    {"SequentialLR", ""},
    {"ChainedScheduler", ""},
};

void refuse_type(SchemaCheck& check, const std::string& type, const std::string& where) {
  std::vector<std::string> names;
  for (const ScheduleType& known : schedule_types()) names.emplace_back(known.name);
  for (const TorchSchedule& torch : kTorchSchedules) {
    if (type != torch.name) continue;
    check.add_problem(fmt::format("schedule {} is one of torch's, which are not done by that name", type), where,
                      *torch.instead != '\0'
                          ? fmt::format("remove the scheduler section and pass --lr_scheduler_type {}", torch.instead)
                          : fmt::format("write one of {}", fmt::join(names, ", ")));
    return;
  }
  const std::optional<std::string> nearest = base::nearest_name(type, names);
  check.add_problem(
      fmt::format("{} is no schedule that DeepSpeed knows (capitals count)", excerpt(JsonValue(type))), where,
      nearest ? fmt::format("write \"{}\"", *nearest) : fmt::format("write one of {}", fmt::join(names, ", ")));
}

}  // namespace

std::optional<DeepSpeedSchedule> read_schedule(SchemaCheck& check) {
  const CheckedValue* section = check.find("scheduler");
  if (section == nullptr) return std::nullopt;
  const CheckedValue* type = check.find("scheduler.type");
  if (type == nullptr) {
    if (section->value.find("type") == nullptr) {
      check.add_problem("scheduler has no type (DeepSpeed would pass over the whole section)", section->where,
                        "write \"type\": \"WarmupLR\" into it, or remove it");
    }
    return std::nullopt;
  }
  const std::string& name = type->value.as_string();
  const auto known = std::find_if(schedule_types().begin(), schedule_types().end(),
                                  [&](const ScheduleType& candidate) { return name == candidate.name; });
  if (known == schedule_types().end()) {
    refuse_type(check, name, type->where);
    return std::nullopt;
  }
  const CheckedValue* written = check.find("scheduler.params");
  const JsonValue parameters = written != nullptr ? written->value : JsonValue::object();
  check.check_parameters(parameters, "scheduler.params", name, known->taken);
  for (const std::string& required : known->required) {
    if (parameters.find(required) != nullptr) continue;
    check.add_problem(fmt::format("{} needs \"{}\"", name, required), written != nullptr ? written->where : type->where,
                      required == "total_num_steps" ? "write \"total_num_steps\": \"auto\" into scheduler.params"
                                                    : fmt::format("write \"{}\" into scheduler.params", required));
  }

  DeepSpeedSchedule schedule{.type = name, .where = type->where};
  for (const std::string& key : known->taken) {
    const CheckedValue* value = check.find("scheduler.params." + key);
    if (value == nullptr) continue;
    JsonValue stored = value->is_auto ? JsonValue("auto") : value->value;
    stored.set_position(parameters.find(key)->position());
    schedule.parameters.set(key, std::move(stored));
  }
  return schedule;
}

}  // namespace athanor::config
