// The one plan of a run's length: how many optimizer steps an epoch and the run have, and which micro-batches a step takes. Loop,
// schedule, progress and reports all use it.
//
// Source: transformers 5.23 Trainer: updates per epoch = max(1, ceil(batches per rank / accumulation)); the last, shorter group
//         of an epoch is a step of its own; T = max_steps if given, else ceil(epochs x updates per epoch).
// Units:  a "batch" here is one rank's micro-batch; steps are optimizer steps from 0.
// Threads: pure.
#pragma once

#include <cstdint>

namespace athanor::data {

struct StepPlanInput {
  std::int64_t num_batches = 0;  // micro-batches of an epoch over all ranks
  std::int64_t world_size = 1;
  std::int64_t accumulation_steps = 1;
  double num_epochs = 3.0;
  std::int64_t max_steps = -1;  // > 0 wins over num_epochs
};

struct StepPlan {
  std::int64_t num_batches = 0;
  std::int64_t world_size = 1;
  std::int64_t accumulation_steps = 1;
  std::int64_t batches_per_rank = 0;  // of an epoch; ranks at the end may have one less
  std::int64_t updates_per_epoch = 0;
  std::int64_t total_steps = 0;
  std::int64_t num_epochs = 0;  // begun, the last one perhaps in part

  // Where a step stands.
  std::int64_t epoch_of(std::int64_t step) const { return step / updates_per_epoch; }
  std::int64_t update_in_epoch(std::int64_t step) const { return step % updates_per_epoch; }
  // Micro-batches per rank of a step: accumulation_steps, less at the end of an epoch.
  std::int64_t group_size(std::int64_t step) const;
  // Index into the epoch's order of micro-batches: part `part` of step `step` on `rank`; -1 when that rank has none left.
  std::int64_t batch_index(std::int64_t step, std::int64_t part, std::int64_t rank) const;
  // Epochs done after `steps` steps, as transformers logs it.
  double epochs_after(std::int64_t steps) const;
};

// Fails: ATHANOR_CHECK when num_batches, world_size or accumulation_steps is not positive (callers check what people give).
StepPlan make_step_plan(const StepPlanInput& input);

// logging_steps, eval_steps, save_steps: at least 1 is a number of steps; below 1 a share of the total, rounded up. 0 stays 0 (never).
std::int64_t resolve_interval(double steps, std::int64_t total_steps);

}  // namespace athanor::data
