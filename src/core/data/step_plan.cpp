#include "core/data/step_plan.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace athanor::data {

namespace {

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

std::int64_t StepPlan::group_size(std::int64_t step) const {
  const std::int64_t begin = update_in_epoch(step) * accumulation_steps;
  return std::min(accumulation_steps, batches_per_rank - begin);
}

std::int64_t StepPlan::batch_index(std::int64_t step, std::int64_t part, std::int64_t rank) const {
  const std::int64_t index = (update_in_epoch(step) * accumulation_steps + part) * world_size + rank;
  return index < num_batches ? index : -1;
}

double StepPlan::epochs_after(std::int64_t steps) const {
  const std::int64_t whole = steps / updates_per_epoch;
  const std::int64_t done = std::min(steps % updates_per_epoch * accumulation_steps, batches_per_rank);
  return static_cast<double>(whole) + static_cast<double>(done) / static_cast<double>(batches_per_rank);
}

StepPlan make_step_plan(const StepPlanInput& input) {
  ATHANOR_CHECK(input.num_batches > 0 && input.world_size > 0 && input.accumulation_steps > 0, "a plan needs batches");
  StepPlan plan;
  plan.num_batches = input.num_batches;
  plan.world_size = input.world_size;
  plan.accumulation_steps = input.accumulation_steps;
  plan.batches_per_rank = divide_up(input.num_batches, input.world_size);
  plan.updates_per_epoch = std::max<std::int64_t>(1, divide_up(plan.batches_per_rank, input.accumulation_steps));
  if (input.max_steps > 0) {
    plan.total_steps = input.max_steps;
  } else {
    plan.total_steps =
        static_cast<std::int64_t>(std::ceil(input.num_epochs * static_cast<double>(plan.updates_per_epoch)));
  }
  plan.num_epochs = divide_up(plan.total_steps, plan.updates_per_epoch);
  return plan;
}

std::int64_t resolve_interval(double steps, std::int64_t total_steps) {
  if (steps >= 1.0 || steps <= 0.0) return static_cast<std::int64_t>(steps);
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(total_steps) * steps));
}

}  // namespace athanor::data
