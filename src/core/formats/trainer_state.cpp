#include "core/formats/trainer_state.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.h"

namespace athanor::formats {

namespace {

using base::JsonValue;

// transformers' fields are ints where they can be: 500, not 500.0.
JsonValue whole_or_fraction(double value) {
  if (value == std::floor(value) && std::fabs(value) < 1e15) return static_cast<std::int64_t>(value);
  return value;
}

template <typename T>
JsonValue or_null(const std::optional<T>& value) {
  return value.has_value() ? JsonValue(*value) : JsonValue(nullptr);
}

class StateReader {
 public:
  StateReader(const JsonValue& json, const std::string& name) : json_(json), name_(name) {}

  double number(const char* key, std::optional<double> fallback) {
    const JsonValue* value = present(key, fallback.has_value());
    if (value == nullptr) return fallback.value_or(0);
    if (value->is_number()) return value->as_double();
    wrong(key, *value, "number");
    return 0;
  }
  std::int64_t integer(const char* key, std::optional<std::int64_t> fallback) {
    const JsonValue* value = present(key, fallback.has_value());
    if (value == nullptr) return fallback.value_or(0);
    if (value->is_integer()) return value->as_integer();
    wrong(key, *value, "whole number");
    return 0;
  }
  std::vector<JsonValue> history() {
    const JsonValue* value = present("log_history", false);
    if (value == nullptr) return {};
    if (value->is_array()) return value->items();
    wrong("log_history", *value, "list");
    return {};
  }
  void finish() const { problems_.throw_if_any(); }

 private:
  const JsonValue* present(const char* key, bool optional) {
    const JsonValue* value = json_.find(key);
    if (value != nullptr && value->is_null()) value = nullptr;
    if (value == nullptr && !optional) {
      problems_.add(fmt::format("{} is missing", key), name_, "use another checkpoint, or start anew");
    }
    return value;
  }
  void wrong(const char* key, const JsonValue& value, const char* wanted) {
    problems_.add(fmt::format("{} must be a {}, not a {}", key, wanted, base::json_kind_name(value.kind())),
                  fmt::format("{}:{}:{}", name_, value.position().line, value.position().column),
                  "use another checkpoint, or start anew");
  }

  const JsonValue& json_;
  const std::string& name_;
  base::Problems problems_;
};

}  // namespace

std::string trainer_state_to_text(const TrainerState& state) {
  JsonValue json = JsonValue::object();
  json.set("best_global_step", or_null(state.best_global_step));
  json.set("best_metric", or_null(state.best_metric));
  json.set("best_model_checkpoint", or_null(state.best_model_checkpoint));
  json.set("epoch", state.epoch);
  json.set("eval_steps", whole_or_fraction(state.eval_steps));
  json.set("global_step", state.global_step);
  json.set("is_hyper_param_search", false);
  json.set("is_local_process_zero", true);
  json.set("is_world_process_zero", true);
  json.set("log_history", JsonValue::array(state.log_history));
  json.set("logging_steps", whole_or_fraction(state.logging_steps));
  json.set("max_steps", state.max_steps);
  json.set("num_input_tokens_seen", state.num_input_tokens_seen);
  json.set("num_train_epochs", state.num_train_epochs);
  json.set("save_steps", whole_or_fraction(state.save_steps));
  json.set("stateful_callbacks", JsonValue::object());
  json.set("total_flos", state.total_flos);
  json.set("train_batch_size", state.train_batch_size);
  json.set("trial_name", nullptr);
  json.set("trial_params", nullptr);
  return json.dump(2) + "\n";
}

TrainerState parse_trainer_state(const JsonValue& json, const std::string& name) {
  if (!json.is_object())
    throw base::UserError("this is no trainer state", name, "use another checkpoint, or start anew");
  StateReader reader(json, name);
  TrainerState state;
  state.epoch = reader.number("epoch", std::nullopt);
  state.global_step = reader.integer("global_step", std::nullopt);
  state.max_steps = reader.integer("max_steps", std::nullopt);
  state.num_train_epochs = reader.integer("num_train_epochs", 0);
  state.logging_steps = reader.number("logging_steps", 500);
  state.eval_steps = reader.number("eval_steps", 500);
  state.save_steps = reader.number("save_steps", 500);
  state.train_batch_size = reader.integer("train_batch_size", 0);
  state.num_input_tokens_seen = reader.integer("num_input_tokens_seen", 0);
  state.total_flos = reader.number("total_flos", 0);
  state.log_history = reader.history();
  reader.finish();
  if (const JsonValue* value = json.find("best_metric"); value != nullptr && value->is_number()) {
    state.best_metric = value->as_double();
  }
  if (const JsonValue* value = json.find("best_global_step"); value != nullptr && value->is_integer()) {
    state.best_global_step = value->as_integer();
  }
  if (const JsonValue* value = json.find("best_model_checkpoint"); value != nullptr && value->is_string()) {
    state.best_model_checkpoint = value->as_string();
  }
  return state;
}

}  // namespace athanor::formats
