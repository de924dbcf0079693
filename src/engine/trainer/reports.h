// What a person reads before the first step and after the last: plain lines from plain facts.
//
// Threads: pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/run_config.h"
#include "core/data/step_plan.h"
#include "core/schedule/learning_rate.h"
#include "engine/trainer/model_input.h"
#include "engine/trainer/run_log.h"

namespace athanor::trainer {

// "model    llama, 165,248 parameters, from out/model".
std::string describe_model(const ModelInput& input, std::int64_t num_parameters);

// "plan     40 steps = 1 epoch of 40; a step is 8 rows (4 x accumulation 2)".
std::string describe_plan(const config::BatchConfig& batch, const data::StepPlan& plan);

// "rate     cosine, warm-up 2 steps: step 1 0, 11 0.0029, 21 ..., 40 ...": the learning rate at 0, 25, 50, 75 and 100 % of the run.
std::string describe_schedule(const config::ScheduleConfig& config, const schedule::LearningRateSchedule& schedule,
                              std::int64_t total_steps);

struct RunTotals {
  std::int64_t steps = 0;  // in this call
  double seconds = 0.0;
  std::int64_t num_tokens = 0;  // in this call
  std::int64_t peak_bytes = 0;
  double train_loss = 0.0;
  std::string output_dir;
};
std::vector<std::string> describe_end(const RunTotals& totals, const RunLog& log);

}  // namespace athanor::trainer
