#include "engine/trainer/cadence.h"

#include <gtest/gtest.h>

#include <cmath>

namespace athanor::trainer {
namespace {

using config::Interval;

Cadence every(std::int64_t log, std::int64_t evaluate, std::int64_t save, std::int64_t max_steps) {
  Cadence cadence;
  cadence.logging = log > 0 ? Interval::kSteps : Interval::kNo;
  cadence.evaluation = evaluate > 0 ? Interval::kSteps : Interval::kNo;
  cadence.saving = save > 0 ? Interval::kSteps : Interval::kNo;
  cadence.logging_steps = log;
  cadence.evaluation_steps = evaluate;
  cadence.saving_steps = save;
  cadence.max_steps = max_steps;
  return cadence;
}

TEST(Cadence, ActsOnMultiplesAndEvaluatesAndSavesAtTheEnd) {
  const Cadence cadence = every(2, 3, 4, 7);
  EXPECT_EQ(actions_after(cadence, {.step = 1}), (Actions{}));
  EXPECT_EQ(actions_after(cadence, {.step = 4}), (Actions{.log = true, .save = true}));
  EXPECT_EQ(actions_after(cadence, {.step = 6}), (Actions{.log = true, .evaluate = true}));
  EXPECT_EQ(actions_after(cadence, {.step = 7}), (Actions{.evaluate = true, .save = true, .stop = true}));
  EXPECT_EQ(actions_after(every(0, 0, 0, 7), {.step = 7}), (Actions{.stop = true}));
}

TEST(Cadence, ByEpochActsWhereAnEpochEndsOrIsCutShort) {
  Cadence cadence = every(0, 0, 0, 10);
  cadence.logging = cadence.evaluation = cadence.saving = Interval::kEpoch;
  EXPECT_EQ(actions_after(cadence, {.step = 3, .epoch = 0.75}), (Actions{}));
  EXPECT_EQ(actions_after(cadence, {.step = 4, .epoch = 1.0, .epoch_ends = true}),
            (Actions{.log = true, .evaluate = true, .save = true}));
  EXPECT_EQ(actions_after(cadence, {.step = 10, .epoch = 2.5}),
            (Actions{.log = true, .evaluate = true, .save = true, .stop = true}));
  cadence.evaluation_delay = 2;
  EXPECT_FALSE(actions_after(cadence, {.step = 4, .epoch = 1.0, .epoch_ends = true}).evaluate);
}

TEST(Cadence, TheFirstStepIsLoggedWhenAsked) {
  Cadence cadence = every(100, 0, 0, 10);
  EXPECT_FALSE(actions_after(cadence, {.step = 1}).log);
  cadence.log_first_step = true;
  EXPECT_TRUE(actions_after(cadence, {.step = 1}).log);
  EXPECT_FALSE(actions_after(cadence, {.step = 2}).log);
}

TEST(Cadence, SharesOfTheRunAreRoundedUpAndEvaluationFollowsLogging) {
  config::LoggingConfig logging;
  logging.steps = 0.1;
  config::EvaluationConfig evaluation;
  evaluation.strategy = Interval::kSteps;
  config::CheckpointConfig checkpoint;
  checkpoint.save_steps = 0.25;
  const Cadence cadence = make_cadence(logging, evaluation, checkpoint, 33);
  EXPECT_EQ(cadence.logging_steps, 4);
  EXPECT_EQ(cadence.evaluation_steps, 4);
  EXPECT_EQ(cadence.saving_steps, 9);
}

TEST(IsBetter, NeverPrefersNaN) {
  EXPECT_TRUE(is_better(2.0, std::nullopt, false));
  EXPECT_TRUE(is_better(1.0, 2.0, false));
  EXPECT_FALSE(is_better(2.0, 2.0, false));
  EXPECT_TRUE(is_better(3.0, 2.0, true));
  EXPECT_FALSE(is_better(std::nan(""), std::nullopt, false));
  EXPECT_FALSE(is_better(std::nan(""), 2.0, true));
}

}  // namespace
}  // namespace athanor::trainer
