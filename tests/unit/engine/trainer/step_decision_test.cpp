#include "engine/trainer/step_decision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace athanor::trainer {
namespace {

using ::testing::HasSubstr;

StepFacts facts(config::Precision compute, bool finite) {
  StepFacts result;
  result.num_targets = 10;
  result.finite = finite;
  result.precision.compute = compute;
  result.scaler = schedule::initial_scaler_state(result.precision.scaler);
  return result;
}

TEST(StepDecision, AppliesAFiniteStep) {
  for (const auto compute : {config::Precision::kFloat32, config::Precision::kBfloat16, config::Precision::kFloat16}) {
    EXPECT_EQ(decide_step(facts(compute, true)).action, StepAction::kApply);
  }
}

TEST(StepDecision, ABatchWithoutTargetsIsNoStepAndMovesNoScaler) {
  StepFacts empty = facts(config::Precision::kFloat16, true);
  empty.num_targets = 0;
  const StepDecision decision = decide_step(empty);
  EXPECT_EQ(decision.action, StepAction::kSkipNoTargets);
  EXPECT_EQ(decision.scaler, empty.scaler);
}

TEST(StepDecision, WithoutASkippingPolicyNonFiniteGradientsStopTheRun) {
  EXPECT_EQ(decide_step(facts(config::Precision::kFloat32, false)).action, StepAction::kStop);
  StepFacts bf16 = facts(config::Precision::kBfloat16, false);
  EXPECT_EQ(decide_step(bf16).action, StepAction::kStop);
  bf16.precision.skip_non_finite_steps = true;
  EXPECT_EQ(decide_step(bf16).action, StepAction::kSkipOverflow);
}

TEST(StepDecision, DeepSpeedsScalerLowersAndStopsAtItsMinimum) {
  StepFacts fp16 = facts(config::Precision::kFloat16, false);
  fp16.precision.scaler = {
      .rule = config::ScalerRule::kDeepSpeed, .initial_scale = 4.0, .hysteresis = 1, .minimum_scale = 1.0};
  fp16.scaler = schedule::initial_scaler_state(fp16.precision.scaler);
  std::vector<double> scales;
  StepDecision decision;
  for (int i = 0; i < 3; ++i) {
    decision = decide_step(fp16);
    scales.push_back(decision.scaler.scale);
    fp16.scaler = decision.scaler;
  }
  EXPECT_EQ(scales, (std::vector<double>{2.0, 1.0, 1.0}));
  EXPECT_EQ(decision.action, StepAction::kStop);
  EXPECT_THAT(decision.reason, HasSubstr("smallest loss scale, 1"));
}

TEST(StepDecision, TorchsScalerStopsWhereNoScaleCanHelp) {
  StepFacts fp16 = facts(config::Precision::kFloat16, false);
  int steps = 0;
  StepDecision decision;
  do {
    decision = decide_step(fp16);
    fp16.scaler = decision.scaler;
    ++steps;
  } while (decision.action == StepAction::kSkipOverflow && steps < 100);
  EXPECT_EQ(decision.action, StepAction::kStop);
  EXPECT_EQ(steps, 41);  // 2^16 halved down to 2^-25
}

}  // namespace
}  // namespace athanor::trainer
