// The learning rate of every optimizer step, before training and during it: one pure function of the number of applied updates.
//
// Source:  transformers 5.23 optimization.py and DeepSpeed 0.19.8 lr_schedules.py, including their off-by-one rules; within 1e-12
//          relative of both (tests/parity/schedules). Formulas: docs/reference/schedules.md.
// Units:   `update` counts applied optimizer steps from 0; a step skipped because of overflow does not advance it.
// Threads: immutable.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/config/run_config.h"

namespace athanor::schedule {

// What update number `update` is taken with. The betas are there only when the schedule moves them (OneCycle).
struct StepRates {
  double learning_rate = 0.0;
  std::optional<double> beta1;
  std::optional<double> beta2;
};

class LearningRateSchedule {
 public:
  using Function = std::function<StepRates(std::int64_t update)>;

  LearningRateSchedule(Function function, std::int64_t warmup_steps, std::vector<std::string> notes)
      : function_(std::move(function)), warmup_steps_(warmup_steps), notes_(std::move(notes)) {}

  StepRates at(std::int64_t update) const { return function_(update); }
  // Resolved warm-up; 0 when the schedule has none.
  std::int64_t warmup_steps() const { return warmup_steps_; }
  // What a person should be told once, e.g. that a cosine rises again after the last step.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  Function function_;
  std::int64_t warmup_steps_;
  std::vector<std::string> notes_;
};

// Warm-up as transformers resolves it: warmup_steps >= 1 are steps, below 1 a share of the total; else warmup_ratio; rounded up.
std::int64_t resolve_warmup_steps(const config::ScheduleConfig& config, std::int64_t total_steps);

// `base_learning_rate` is the optimizer's; `total_steps` the planned updates (> 0). "auto" in DeepSpeed parameters takes what
// the Hugging Face integration fills in. Fails: UserError with every problem: unknown schedule or option (with the nearest), a
// missing or impossible value, a warm-up longer than the run.
LearningRateSchedule make_schedule(const config::ScheduleConfig& config, double base_learning_rate,
                                   std::int64_t total_steps);

// The names make_schedule knows, in the order of the documentation.
const std::vector<std::string>& huggingface_schedule_names();
const std::vector<std::string>& deepspeed_schedule_names();

}  // namespace athanor::schedule
