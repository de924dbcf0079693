#include "engine/trainer/run_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"

namespace athanor::trainer {
namespace {

using ::testing::ElementsAre;

TEST(RunState, ComesBackFromJson) {
  RunState state;
  state.step = 17;
  state.scaler = {.scale = 1024.0, .steps = 17, .last_overflow_step = 3, .hysteresis_left = 2, .clean_steps = 5};
  state.consecutive_skips = 2;
  state.evaluation_due = true;
  state.events_folder = "out/runs/x";
  state.sums = {.loss = 1.0 / 3,
                .num_losses = 1,
                .last_logged_step = 16,
                .total_loss = 99.5,
                .num_total_losses = 15,
                .skipped_steps = 2,
                .empty_steps = 0};
  const base::JsonValue json = base::parse_json(run_state_to_json(state, {}).dump(), "state.json");
  const RunState back = run_state_from_json(json, "state.json");
  EXPECT_EQ(back.step, 17);
  EXPECT_EQ(back.scaler, state.scaler);
  EXPECT_EQ(back.consecutive_skips, 2);
  EXPECT_TRUE(back.evaluation_due);
  EXPECT_EQ(back.events_folder, "out/runs/x");
  EXPECT_EQ(back.sums.loss, 1.0 / 3);
  EXPECT_EQ(back.sums.last_logged_step, 16);
  EXPECT_EQ(back.sums.skipped_steps, 2);
  EXPECT_THROW(run_state_from_json(base::JsonValue::object(), "state.json"), base::UserError);
}

TEST(CompareSettings, NamesWhatDiffersAndRefusesOtherData) {
  config::RunConfig config;
  const DataIdentity data{"abc", 100};
  const TrajectorySettings before = trajectory_settings(config, config::Precision::kFloat32, 50, data);
  const base::JsonValue saved = base::parse_json(run_state_to_json({}, before).dump(), "state.json");
  EXPECT_TRUE(compare_settings(saved, before, "state.json").empty());
  config.optimizer.learning_rate = 1e-4;
  EXPECT_THAT(
      compare_settings(saved, trajectory_settings(config, config::Precision::kBfloat16, 60, data), "state.json"),
      ElementsAre("learning_rate is 0.0001 now, it was 5e-05", "precision is \"bf16\" now, it was \"fp32\"",
                  "total steps is 60 now, it was 50"));
  for (const DataIdentity& other : {DataIdentity{"abd", 100}, DataIdentity{"abc", 99}}) {
    EXPECT_THROW(
        compare_settings(saved, trajectory_settings(config, config::Precision::kFloat32, 50, other), "state.json"),
        base::UserError);
  }
}

}  // namespace
}  // namespace athanor::trainer
