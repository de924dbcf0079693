#include "engine/trainer/run_state.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "engine/checkpoint/tensor_source.h"
#include "engine/trainer/device.h"

namespace athanor::trainer {

namespace {

using base::JsonValue;

constexpr const char* kData = "data";

const JsonValue& need(const JsonValue& json, const char* key, const std::string& where) {
  const JsonValue* value = json.find(key);
  if (value == nullptr) {
    throw base::UserError(fmt::format("the checkpoint's state has no {}", key), where,
                          "resume with the release that wrote the checkpoint");
  }
  return *value;
}

void add_data_settings(JsonValue& values, const config::RunConfig& config, const DataIdentity& data) {
  values.set(kData, fmt::format("{} in {} rows", data.fingerprint, data.num_rows));
  values.set("model_max_length", config.data.max_length.value_or(0));
  values.set("packing", config.data.packing == config::PackingMode::kOn);
  values.set("data_seed", config.data.data_seed);
  values.set("train_sampling_strategy", static_cast<std::int64_t>(config.data.sampling));
  values.set("dataloader_drop_last", config.data.drop_last);
  values.set("tokens_per_batch", config.data.tokens_per_batch.value_or(0));
  values.set("per_device_train_batch_size", config.batch.micro_batch_size);
  values.set("gradient_accumulation_steps", config.batch.accumulation_steps);
}

void add_optimizer_settings(JsonValue& values, const config::RunConfig& config) {
  values.set("optim", checkpoint::optimizer_kind_name(config.optimizer.kind));
  values.set("learning_rate", config.optimizer.learning_rate);
  values.set("beta1", config.optimizer.beta1);
  values.set("beta2", config.optimizer.beta2);
  values.set("epsilon", config.optimizer.epsilon);
  values.set("weight_decay", config.optimizer.weight_decay);
  values.set("momentum", config.optimizer.momentum);
  values.set("max_grad_norm", config.clipping.max_norm);
  values.set("lr_scheduler_type", config.schedule.type);
  values.set("lr_scheduler_kwargs", config.schedule.parameters);
  values.set("warmup_steps", config.schedule.warmup_steps);
  values.set("warmup_ratio", config.schedule.warmup_ratio);
}

}  // namespace

TrajectorySettings trajectory_settings(const config::RunConfig& config, config::Precision compute,
                                       std::int64_t total_steps, const DataIdentity& data) {
  TrajectorySettings settings;
  add_data_settings(settings.values, config, data);
  add_optimizer_settings(settings.values, config);
  settings.values.set("precision", precision_name(compute));
  settings.values.set("total steps", total_steps);
  settings.values.set("seed", config.seed);
  settings.values.set("neftune_noise_alpha", config.neftune_noise_alpha);
  return settings;
}

JsonValue run_state_to_json(const RunState& state, const TrajectorySettings& settings) {
  JsonValue json = JsonValue::object();
  json.set("step", state.step);
  json.set("scaler", schedule::scaler_state_to_json(state.scaler));
  json.set("consecutive_skips", static_cast<std::int64_t>(state.consecutive_skips));
  json.set("evaluation_due", state.evaluation_due);
  if (state.metric_schedule) {
    json.set("metric_schedule", schedule::metric_schedule_state_to_json(*state.metric_schedule));
  }
  json.set("events_folder", state.events_folder);
  json.set("log_sums", log_sums_to_json(state.sums));
  json.set("settings", settings.values);
  return json;
}

RunState run_state_from_json(const JsonValue& json, const std::string& where) {
  RunState state;
  state.step = need(json, "step", where).as_integer();
  state.scaler = schedule::scaler_state_from_json(need(json, "scaler", where), where);
  state.consecutive_skips = static_cast<int>(need(json, "consecutive_skips", where).as_integer());
  state.evaluation_due = need(json, "evaluation_due", where).as_bool();
  if (const JsonValue* metric_schedule = json.find("metric_schedule")) {
    state.metric_schedule = schedule::metric_schedule_state_from_json(*metric_schedule, where);
  }
  state.events_folder = need(json, "events_folder", where).as_string();
  state.sums = log_sums_from_json(need(json, "log_sums", where));
  return state;
}

std::vector<std::string> compare_settings(const JsonValue& saved_state, const TrajectorySettings& now,
                                          const std::string& where) {
  const JsonValue& saved = need(saved_state, "settings", where);
  const JsonValue* data = saved.find(kData);
  if (data != nullptr && data->dump() != now.values.find(kData)->dump()) {
    throw base::UserError(
        "the training data is not what the checkpoint was trained on, so its position in the data means nothing", where,
        "resume with the same files, tokenizer and data settings, or start a new run from these weights with "
        "--model_name_or_path");
  }
  std::vector<std::string> differences;
  for (const base::JsonMember& member : now.values.members()) {
    const JsonValue* before = saved.find(member.key);
    if (before == nullptr || before->dump() == member.value.dump()) continue;
    differences.push_back(fmt::format("{} is {} now, it was {}", member.key, member.value.dump(), before->dump()));
  }
  return differences;
}

}  // namespace athanor::trainer
