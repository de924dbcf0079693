#include "core/schedule/metric_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/schedule/options.h"

namespace athanor::schedule {

namespace {

constexpr const char* kPlateau = "reduce_lr_on_plateau";
constexpr const char* kGreedy = "greedy";

}  // namespace

bool follows_metric(const config::ScheduleConfig& config) {
  return config.family == config::ScheduleFamily::kHuggingFace && (config.type == kPlateau || config.type == kGreedy);
}

MetricSchedule::MetricSchedule(const config::ScheduleConfig& config, double base_learning_rate)
    : greedy_(config.type == kGreedy), base_(base_learning_rate) {
  Options options(config.parameters, fmt::format("lr_scheduler_kwargs of {}", config.type));
  lower_is_better_ = options.choice("mode", "min", {"min", "max"}) == "min";
  relative_ = options.choice("threshold_mode", greedy_ ? "abs" : "rel", {"rel", "abs"}) == "rel";
  factor_ = options.number("factor", greedy_ ? 0.95 : 0.1);
  if (factor_ >= 1.0 || factor_ <= 0.0) options.refuse("factor must be between 0 and 1", "give e.g. factor 0.5");
  patience_ = options.integer("patience", 10);
  threshold_ = options.number("threshold", greedy_ ? 1e-6 : 1e-4);
  cooldown_ = options.integer("cooldown", 0);
  min_ = options.number("min_lr", greedy_ ? 1e-3 : 0.0);
  epsilon_ = options.number("eps", 1e-8);
  if (greedy_) {
    max_ = options.number("max_lr", 1.0);
    warmup_ = options.integer("warmup", 0);
    reset_ = options.integer("reset_start", 500);
    options.flag("verbose", false);  // every change is printed anyway
    const std::int64_t window = options.integer("window_size", 50);
    if (options.flag("smooth", false)) window_ = window;
    if (window < 1) options.refuse("window_size must be at least 1", "give e.g. window_size 50");
  }
  options.finish();
}

MetricScheduleState MetricSchedule::initial_state() const {
  MetricScheduleState state;
  state.learning_rate = base_;
  state.reset_left = reset_;
  return state;
}

MetricScheduleState MetricSchedule::next(MetricScheduleState state, double metric) const {
  return greedy_ ? next_greedy(std::move(state), metric) : next_on_plateau(std::move(state), metric);
}

bool MetricSchedule::is_better(double metric, const std::optional<double>& best) const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!best) return lower_is_better_ ? metric < kInfinity : metric > -kInfinity;  // false for NaN
  if (lower_is_better_) return metric < (relative_ ? *best * (1.0 - threshold_) : *best - threshold_);
  return metric > (relative_ ? *best * (1.0 + threshold_) : *best + threshold_);
}

MetricScheduleState MetricSchedule::next_on_plateau(MetricScheduleState state, double metric) const {
  if (is_better(metric, state.best)) {
    state.best = metric;
    state.num_bad = 0;
  } else {
    ++state.num_bad;
  }
  if (state.cooldown_left > 0) {
    --state.cooldown_left;
    state.num_bad = 0;
  }
  if (state.num_bad > patience_) {
    const double reduced = std::max(state.learning_rate * factor_, min_);
    if (state.learning_rate - reduced > epsilon_) state.learning_rate = reduced;
    state.cooldown_left = cooldown_;
    state.num_bad = 0;
  }
  return state;
}

double MetricSchedule::smoothed(MetricScheduleState& state, double metric) const {
  if (window_ == 0) return metric;
  state.window.push_back(metric);
  state.window_sum += metric;
  if (static_cast<std::int64_t>(state.window.size()) > window_) {
    state.window_sum -= state.window.front();
    state.window.erase(state.window.begin());
  }
  return state.window_sum / static_cast<double>(state.window.size());
}

MetricScheduleState MetricSchedule::next_greedy(MetricScheduleState state, double metric) const {
  const double current = smoothed(state, metric);
  if (state.cooldown_left > 0 || state.warmup_left > 0) {
    --(state.cooldown_left > 0 ? state.cooldown_left : state.warmup_left);
    state.num_bad = state.num_good = 0;
    return state;
  }
  const bool better = is_better(current, state.best);
  if (better) state.best = current;
  state.num_good = better ? state.num_good + 1 : 0;
  state.num_bad = better ? 0 : state.num_bad + 1;
  if (state.num_good > patience_) {
    const double raised = std::min(state.learning_rate / factor_, max_);
    if (raised - state.learning_rate > epsilon_) state.learning_rate = raised;
    state.reset_left = reset_;
    state.warmup_left = warmup_;
    state.num_good = 0;
  } else if (state.num_bad > patience_) {
    const double reduced = std::max(state.learning_rate * factor_, min_);
    if (state.learning_rate - reduced > epsilon_) state.learning_rate = reduced;
    const bool at_floor = !(state.learning_rate > min_);
    if (at_floor && --state.reset_left <= 0) state = initial_state();
    // The reference sets the cool-down after a reset too.
    state.cooldown_left = cooldown_;
    state.num_bad = 0;
  }
  return state;
}

base::JsonValue metric_schedule_state_to_json(const MetricScheduleState& state) {
  base::JsonValue json = base::JsonValue::object();
  json.set("learning_rate", state.learning_rate);
  json.set("best", state.best ? base::JsonValue(*state.best) : base::JsonValue());
  json.set("num_bad", state.num_bad);
  json.set("num_good", state.num_good);
  json.set("cooldown_left", state.cooldown_left);
  json.set("warmup_left", state.warmup_left);
  json.set("reset_left", state.reset_left);
  base::JsonValue window = base::JsonValue::array();
  for (const double value : state.window) window.push_back(value);
  json.set("window", std::move(window));
  json.set("window_sum", state.window_sum);
  return json;
}

MetricScheduleState metric_schedule_state_from_json(const base::JsonValue& json, const std::string& where) {
  const auto need = [&](const char* key) -> const base::JsonValue& {
    const base::JsonValue* value = json.find(key);
    if (value == nullptr) {
      throw base::UserError(fmt::format("the state of the schedule has no {}", key), where,
                            "resume with the release that wrote the checkpoint");
    }
    return *value;
  };
  MetricScheduleState state;
  state.learning_rate = need("learning_rate").as_double();
  if (const base::JsonValue& best = need("best"); !best.is_null()) state.best = best.as_double();
  state.num_bad = need("num_bad").as_integer();
  state.num_good = need("num_good").as_integer();
  state.cooldown_left = need("cooldown_left").as_integer();
  state.warmup_left = need("warmup_left").as_integer();
  state.reset_left = need("reset_left").as_integer();
  for (const base::JsonValue& value : need("window").items()) state.window.push_back(value.as_double());
  state.window_sum = need("window_sum").as_double();
  return state;
}

}  // namespace athanor::schedule
