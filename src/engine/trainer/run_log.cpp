#include "engine/trainer/run_log.h"

#include <cmath>

namespace athanor::trainer {

namespace {

using base::JsonValue;

// transformers rounds times and speeds.
double rounded(double value, int digits) {
  const double scale = std::pow(10.0, digits);
  return std::round(value * scale) / scale;
}

}  // namespace

JsonValue log_sums_to_json(const LogSums& sums) {
  JsonValue json = JsonValue::object();
  json.set("loss", sums.loss);
  json.set("num_losses", sums.num_losses);
  json.set("last_logged_step", sums.last_logged_step);
  json.set("total_loss", sums.total_loss);
  json.set("num_total_losses", sums.num_total_losses);
  json.set("skipped_steps", sums.skipped_steps);
  json.set("empty_steps", sums.empty_steps);
  return json;
}

LogSums log_sums_from_json(const JsonValue& json) {
  LogSums sums;
  sums.loss = json.find("loss")->as_double();
  sums.num_losses = json.find("num_losses")->as_integer();
  sums.last_logged_step = json.find("last_logged_step")->as_integer();
  sums.total_loss = json.find("total_loss")->as_double();
  sums.num_total_losses = json.find("num_total_losses")->as_integer();
  sums.skipped_steps = json.find("skipped_steps")->as_integer();
  sums.empty_steps = json.find("empty_steps")->as_integer();
  return sums;
}

RunLog::RunLog(const config::LoggingConfig& config, config::Precision compute, formats::TrainerState state,
               LogSums sums)
    : config_(config), compute_(compute), state_(std::move(state)), sums_(sums) {}

void RunLog::open_events(const std::string& folder, const formats::EventFileName& name,
                         std::optional<std::int64_t> resumed_step) {
  events_.emplace(folder, name, resumed_step);
}

void RunLog::add_step(const StepRecord& record) {
  last_step_ = record;
  state_.global_step = record.step;
  state_.epoch = record.epoch;
  state_.num_input_tokens_seen += record.num_counted_tokens;
  state_.total_flos += record.flos;
  if (record.action == StepAction::kSkipOverflow) ++sums_.skipped_steps;
  if (record.action == StepAction::kSkipNoTargets) {
    ++sums_.empty_steps;
    return;
  }
  if (config_.nan_inf_filter && !std::isfinite(record.loss)) return;
  sums_.loss += record.loss;
  ++sums_.num_losses;
  sums_.total_loss += record.loss;
  ++sums_.num_total_losses;
}

void RunLog::log_training(double seconds_since_start, std::int64_t tokens_at_start, double unix_seconds) {
  if (state_.global_step <= sums_.last_logged_step) return;
  JsonValue entry = JsonValue::object();
  if (sums_.num_losses > 0) entry.set("loss", sums_.loss / static_cast<double>(sums_.num_losses));
  entry.set("grad_norm", last_step_.gradient_norm);
  entry.set("learning_rate", last_step_.learning_rate);
  if (compute_ == config::Precision::kFloat16) entry.set("loss_scale", last_step_.loss_scale);
  if (sums_.skipped_steps > 0) entry.set("skipped_steps", sums_.skipped_steps);
  if (sums_.empty_steps > 0) entry.set("empty_steps", sums_.empty_steps);
  if (config_.count_input_tokens != "no") {
    const double tokens = static_cast<double>(state_.num_input_tokens_seen - tokens_at_start);
    entry.set("num_input_tokens_seen", state_.num_input_tokens_seen);
    entry.set("train_runtime", rounded(seconds_since_start, 4));
    if (seconds_since_start > 0) entry.set("train_tokens_per_second", rounded(tokens / seconds_since_start, 3));
  }
  sums_.loss = 0.0;
  sums_.num_losses = 0;
  sums_.last_logged_step = state_.global_step;
  append(std::move(entry), unix_seconds);
}

void RunLog::log_metrics(const std::vector<std::pair<std::string, double>>& metrics, double unix_seconds) {
  JsonValue entry = JsonValue::object();
  for (const auto& [key, value] : metrics) entry.set(key, value);
  append(std::move(entry), unix_seconds);
}

void RunLog::append(JsonValue entry, double unix_seconds) {
  entry.set("epoch", state_.epoch);
  if (events_) {
    std::vector<std::pair<std::string, double>> scalars;
    for (const base::JsonMember& member : entry.members()) {
      scalars.emplace_back(tensorboard_tag(member.key), member.value.as_double());
    }
    events_->scalars(state_.global_step, unix_seconds, scalars);
    events_->flush();
  }
  entry.set("step", state_.global_step);
  state_.log_history.push_back(std::move(entry));
}

void RunLog::write_text(const std::string& tag, const std::string& markdown, double unix_seconds) {
  if (!events_) return;
  events_->text(tag, markdown, 0, unix_seconds);
  events_->flush();
}

void RunLog::close_events() {
  if (events_) events_->close();
  events_.reset();
}

std::string tensorboard_tag(const std::string& key) {
  constexpr std::string_view kEvaluation = "eval_";
  if (key.starts_with(kEvaluation)) return "eval/" + key.substr(kEvaluation.size());
  return "train/" + key;
}

}  // namespace athanor::trainer
