// Learning rates that follow the evaluation's metric and not the step: transformers' reduce_lr_on_plateau and greedy.
//
// Source:  torch 2.15 ReduceLROnPlateau and transformers 5.23 GreedyLR, stepped after each evaluation as Trainer does; equal to both to
//          the last bit (tests/parity/schedules/generate_metric.py).
// Threads: immutable; the state is the caller's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/config/run_config.h"

namespace athanor::schedule {

// Everything that a checkpoint must keep.
struct MetricScheduleState {
  double learning_rate = 0.0;  // of every update until the next evaluation
  std::optional<double> best;
  std::int64_t num_bad = 0;   // evaluations in a row without improvement
  std::int64_t num_good = 0;  // greedy: evaluations in a row with one
  std::int64_t cooldown_left = 0;
  std::int64_t warmup_left = 0;  // greedy: evaluations that do not count after a raise
  std::int64_t reset_left = 0;   // greedy: reductions at the floor until it begins anew
  // greedy with smooth: the metrics averaged, and their sum as it was added up.
  std::vector<double> window;
  double window_sum = 0.0;

  bool operator==(const MetricScheduleState&) const = default;
};

class MetricSchedule {
 public:
  // Fails: UserError naming every unknown or impossible option of lr_scheduler_kwargs.
  MetricSchedule(const config::ScheduleConfig& config, double base_learning_rate);

  MetricScheduleState initial_state() const;
  // The state after an evaluation came to `metric`.
  MetricScheduleState next(MetricScheduleState state, double metric) const;

 private:
  bool is_better(double metric, const std::optional<double>& best) const;
  MetricScheduleState next_on_plateau(MetricScheduleState state, double metric) const;
  MetricScheduleState next_greedy(MetricScheduleState state, double metric) const;
  double smoothed(MetricScheduleState& state, double metric) const;

  bool greedy_;
  double base_;
  bool lower_is_better_ = true;
  bool relative_ = true;
  double factor_, threshold_, min_, max_ = 0.0, epsilon_;
  std::int64_t patience_, cooldown_, warmup_ = 0, reset_ = 0, window_ = 0;  // window 0: no smoothing
};

bool follows_metric(const config::ScheduleConfig& config);

base::JsonValue metric_schedule_state_to_json(const MetricScheduleState& state);
// `where` is the file for messages. Fails: UserError for a missing value.
MetricScheduleState metric_schedule_state_from_json(const base::JsonValue& json, const std::string& where);

}  // namespace athanor::schedule
