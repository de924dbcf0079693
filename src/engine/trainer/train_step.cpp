#include "engine/trainer/train_step.h"

#include "core/base/fault_point.h"
#include "core/schedule/clipping.h"

namespace athanor::trainer {

namespace {

std::int64_t count_targets(std::span<const data::MicroBatch> global_batch) {
  std::int64_t num_targets = 0;
  for (const data::MicroBatch& micro_batch : global_batch) num_targets += micro_batch.num_targets;
  return num_targets;
}

// Sum of the token losses; the store then holds the gradient of scale x their mean.
double accumulate_gradients(const StepParts& parts, const StepInput& input, double loss_weight) {
  double loss_sum = 0.0;
  model::GradientMode mode = model::GradientMode::kOverwrite;
  std::uint64_t number = input.first_micro_batch;
  for (const data::MicroBatch& micro_batch : input.global_batch) {
    loss_sum += parts.model.forward_backward(micro_batch, parts.store, loss_weight, mode, number++);
    mode = model::GradientMode::kAccumulate;
  }
  return loss_sum;
}

// A one-cycle schedule moves the momenta too.
std::optional<optim::Momenta> scheduled_momenta(const schedule::StepRates& rates,
                                                const config::OptimizerConfig& config) {
  if (!rates.beta1) return std::nullopt;
  return optim::Momenta{*rates.beta1, rates.beta2.value_or(config.beta2)};
}

}  // namespace

StepResult train_step(const StepParts& parts, const StepInput& input) {
  base::fault_point(base::FaultPoint::kStepBegin);
  StepResult result;
  const schedule::StepRates rates = parts.schedule.at(parts.optimizer.num_steps());
  result.learning_rate = input.learning_rate.value_or(rates.learning_rate);
  result.num_targets = count_targets(input.global_batch);

  if (result.num_targets > 0) {
    const double num_targets = static_cast<double>(result.num_targets);
    result.loss = accumulate_gradients(parts, input, input.scaler.scale / num_targets) / num_targets;
    result.norms = optim::gradient_norms(parts.store, 1.0 / input.scaler.scale);
    result.clip_coefficient = schedule::clip_coefficient(result.norms.total, parts.clipping.max_norm);
  }

  result.decision = decide_step({.num_targets = result.num_targets,
                                 .finite = result.norms.finite(),
                                 .precision = parts.precision,
                                 .scaler = input.scaler});
  if (result.decision.action == StepAction::kApply) {
    parts.optimizer.step({.learning_rate = result.learning_rate,
                          .gradient_factor = result.clip_coefficient / input.scaler.scale,
                          .momenta = scheduled_momenta(rates, parts.optimizer.config())});
  }
  base::fault_point(base::FaultPoint::kStepEnd);
  return result;
}

}  // namespace athanor::trainer
