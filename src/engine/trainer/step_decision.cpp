#include "engine/trainer/step_decision.h"

#include <fmt/format.h>

namespace athanor::trainer {

namespace {

StepDecision decide_scaled_step(const StepFacts& facts) {
  const schedule::ScalerDecision scaler =
      schedule::next_scaler_state(facts.precision.scaler, facts.scaler, !facts.finite);
  if (facts.finite) return {StepAction::kApply, "", scaler.next};
  if (scaler.at_minimum) {
    return {StepAction::kStop,
            fmt::format("the gradients overflow at the smallest loss scale, {:g}", facts.scaler.scale), scaler.next};
  }
  if (scaler.next.scale < kUselessScale) {
    return {StepAction::kStop,
            fmt::format("the gradients overflow at every loss scale down to {:g}", facts.scaler.scale), scaler.next};
  }
  if (facts.precision.scaler.rule == config::ScalerRule::kStatic) {
    return {StepAction::kSkipOverflow,
            fmt::format("the gradients overflow at the fixed loss scale {:g}", facts.scaler.scale), scaler.next};
  }
  return {
      StepAction::kSkipOverflow,
      fmt::format("the gradients overflow at loss scale {:g}; the next is {:g}", facts.scaler.scale, scaler.next.scale),
      scaler.next};
}

}  // namespace

StepDecision decide_step(const StepFacts& facts) {
  if (facts.num_targets == 0) {
    return {StepAction::kSkipNoTargets, "no row of the global batch has a target", facts.scaler};
  }
  if (facts.precision.compute == config::Precision::kFloat16) return decide_scaled_step(facts);
  if (facts.finite) return {StepAction::kApply, "", facts.scaler};
  if (facts.precision.skip_non_finite_steps)
    return {StepAction::kSkipOverflow, "the gradients are not finite", facts.scaler};
  return {StepAction::kStop, "the gradients are not finite", facts.scaler};
}

}  // namespace athanor::trainer
