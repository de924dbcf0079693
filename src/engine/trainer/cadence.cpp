#include "engine/trainer/cadence.h"

#include <cmath>

#include "core/base/error.h"
#include "core/data/step_plan.h"

namespace athanor::trainer {

namespace {

using config::Interval;

bool falls_on(std::int64_t step, std::int64_t interval) { return interval > 0 && step % interval == 0; }

}  // namespace

Cadence make_cadence(const config::LoggingConfig& logging, const config::EvaluationConfig& evaluation,
                     const config::CheckpointConfig& checkpoint, std::int64_t max_steps) {
  Cadence cadence;
  cadence.logging = logging.strategy;
  cadence.evaluation = evaluation.strategy;
  cadence.saving = checkpoint.strategy;
  cadence.logging_steps = data::resolve_interval(logging.steps, max_steps);
  // Without a number of its own, evaluation follows logging.
  cadence.evaluation_steps = data::resolve_interval(evaluation.steps > 0 ? evaluation.steps : logging.steps, max_steps);
  cadence.saving_steps = data::resolve_interval(checkpoint.save_steps, max_steps);
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

std::int64_t count_saves(const Cadence& cadence, std::int64_t num_epochs) {
  switch (cadence.saving) {
    case Interval::kNo:
      return 0;
    case Interval::kSteps:
      return cadence.saving_steps > 0 ? (cadence.max_steps + cadence.saving_steps - 1) / cadence.saving_steps : 1;
    case Interval::kEpoch:
    case Interval::kBest:
      return num_epochs;
  }
  ATHANOR_CHECK(false, "an unknown strategy");
}

bool is_better(double value, std::optional<double> best, bool greater_is_better) {
  if (std::isnan(value)) return false;
  if (!best) return true;
  return greater_is_better ? value > *best : value < *best;
}

}  // namespace athanor::trainer
