#include "engine/trainer/cadence.h"

#include <algorithm>
#include <cmath>

namespace athanor::trainer {

namespace {

using config::Interval;

std::int64_t in_steps(double steps, std::int64_t max_steps) {
  const double whole = steps < 1.0 ? std::ceil(static_cast<double>(max_steps) * steps) : steps;
  return static_cast<std::int64_t>(whole);
}

bool falls_on(std::int64_t step, std::int64_t interval) { return interval > 0 && step % interval == 0; }

}  // namespace

Cadence make_cadence(const config::LoggingConfig& logging, const config::EvaluationConfig& evaluation,
                     const config::CheckpointConfig& checkpoint, std::int64_t max_steps) {
  Cadence cadence;
  cadence.logging = logging.strategy;
  cadence.evaluation = evaluation.strategy;
  cadence.saving = checkpoint.strategy;
  cadence.logging_steps = in_steps(logging.steps, max_steps);
  // Without a number of its own, evaluation follows logging.
  cadence.evaluation_steps = in_steps(evaluation.steps > 0 ? evaluation.steps : logging.steps, max_steps);
  cadence.saving_steps = in_steps(checkpoint.save_steps, max_steps);
  cadence.evaluation_delay = evaluation.delay;
  cadence.log_first_step = logging.first_step;
  cadence.max_steps = max_steps;
  return cadence;
}

Actions actions_after(const Cadence& cadence, const StepPlace& place) {
  Actions actions;
  actions.stop = place.step >= cadence.max_steps;
  actions.log = (place.step == 1 && cadence.log_first_step) ||
                (cadence.logging == Interval::kSteps && falls_on(place.step, cadence.logging_steps));
  if (cadence.evaluation == Interval::kSteps && cadence.evaluation_delay <= static_cast<double>(place.step)) {
    actions.evaluate = falls_on(place.step, cadence.evaluation_steps) || actions.stop;
  }
  if (cadence.saving == Interval::kSteps) actions.save = falls_on(place.step, cadence.saving_steps) || actions.stop;
  // An epoch that the last step cuts short ends there.
  if (place.epoch_ends || actions.stop) {
    actions.log |= cadence.logging == Interval::kEpoch;
    actions.evaluate |= cadence.evaluation == Interval::kEpoch && cadence.evaluation_delay <= place.epoch;
    actions.save |= cadence.saving == Interval::kEpoch;
  }
  return actions;
}

bool is_better(double value, std::optional<double> best, bool greater_is_better) {
  if (std::isnan(value)) return false;
  if (!best) return true;
  return greater_is_better ? value > *best : value < *best;
}

}  // namespace athanor::trainer
