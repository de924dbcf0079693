// When to log, evaluate and save: pure functions of the step.
//
// Source:  transformers 5.23 DefaultFlowCallback and TrainerState.compute_steps.
// Units:   steps are optimizer steps, 1-based, skipped ones counted.
#pragma once

#include <cstdint>
#include <optional>

#include "core/config/run_config.h"

namespace athanor::trainer {

// Intervals in steps; those given as a share of the run are rounded up.
struct Cadence {
  config::Interval logging = config::Interval::kNo;
  config::Interval evaluation = config::Interval::kNo;
  config::Interval saving = config::Interval::kNo;
  std::int64_t logging_steps = 0;
  std::int64_t evaluation_steps = 0;
  std::int64_t saving_steps = 0;
  double evaluation_delay = 0;  // steps, or epochs when evaluating by epoch
  bool log_first_step = false;
  std::int64_t max_steps = 0;
};

Cadence make_cadence(const config::LoggingConfig& logging, const config::EvaluationConfig& evaluation,
                     const config::CheckpointConfig& checkpoint, std::int64_t max_steps);

struct StepPlace {
  std::int64_t step = 0;  // steps done
  double epoch = 0.0;     // done, with fraction
  bool epoch_ends = false;
};

struct Actions {
  bool log = false;
  bool evaluate = false;
  bool save = false;  // with Interval::kBest: decided after the evaluation instead
  bool stop = false;
  bool operator==(const Actions&) const = default;
};

Actions actions_after(const Cadence& cadence, const StepPlace& place);

// Checkpoints the whole run will write.
std::int64_t count_saves(const Cadence& cadence, std::int64_t num_epochs);

// Whether `value` beats `best` (none yet: always). NaN never does.
bool is_better(double value, std::optional<double> best, bool greater_is_better);

}  // namespace athanor::trainer
