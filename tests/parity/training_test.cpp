// Forty steps of a small Llama against transformers + torch.optim (tests/parity/training/generate.py).
#include <gtest/gtest.h>

#include <cstring>

#include "core/base/file.h"
#include "tests/parity/trajectory.h"

namespace athanor::parity {
namespace {

constexpr std::int64_t kSteps = 40;
constexpr std::size_t kRows = 8, kLength = 64;
// Legitimate fp32 runs of this case differ by 6e-7; the reference's losses are rounded to fp32 besides.
constexpr double kLossTolerance = 5e-6;
constexpr double kLowPrecisionTolerance = 2e-2;

const base::JsonValue& expected() {
  static const base::JsonValue value = base::parse_json_file(case_folder("training") + "/expected_single.json");
  return value;
}

std::vector<data::MicroBatch> batch_of_step(std::int64_t step, std::int64_t parts) {
  static const std::string bytes = base::read_file(case_folder("training") + "/batches.bin");
  std::vector<std::vector<std::int32_t>> rows(kRows, std::vector<std::int32_t>(kLength));
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t i = 0; i < kLength; ++i) {
      std::uint16_t token;
      std::memcpy(&token, bytes.data() + 2 * ((static_cast<std::size_t>(step) * kRows + row) * kLength + i), 2);
      rows[row][i] = token;
    }
  }
  return deal(rows, rows, parts);
}

TrajectorySetup setup() {
  TrajectorySetup result;
  result.model_folder = case_folder("training");
  result.optimizer = reference_adamw();
  result.optimizer.decay_groups = config::DecayGroups::kAll;
  result.schedule.type = "cosine_with_restarts";
  result.schedule.parameters.set("num_cycles", 2);
  result.schedule.warmup_steps = 2;
  result.total_steps = kSteps;
  return result;
}

struct Case {
  const char* name;
  std::int64_t accumulation_steps = 1;
  double max_norm = 1.0;
  config::DecayGroups decay_groups = config::DecayGroups::kAll;
  model::Recompute recompute = model::Recompute::kNothing;
};

class TrainingTrajectory : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Cases, TrainingTrajectory,
                         ::testing::Values(Case{"single_fp32"}, Case{.name = "accum4_fp32", .accumulation_steps = 4},
                                           Case{.name = "clip0.1_fp32", .max_norm = 0.1},
                                           Case{.name = "hf_decay_groups_fp32",
                                                .decay_groups = config::DecayGroups::kHuggingFace},
                                           Case{.name = "single_fp32", .recompute = model::Recompute::kLayers}));

TEST_P(TrainingTrajectory, FollowsTheReference) {
  TrajectorySetup run = setup();
  run.accumulation_steps = GetParam().accumulation_steps;
  run.max_norm = GetParam().max_norm;
  run.optimizer.decay_groups = GetParam().decay_groups;
  run.recompute = GetParam().recompute;
  Trajectory trajectory(run);
  const base::JsonValue& reference = *expected().find(GetParam().name);
  for (std::int64_t step = 0; step < kSteps; ++step) {
    const TrajectoryStep got = trajectory.step(batch_of_step(step, run.accumulation_steps));
    const base::JsonValue& want = reference.find("steps")->items()[static_cast<std::size_t>(step)];
    ASSERT_NEAR(got.loss, want.find("loss")->as_double(), kLossTolerance) << "step " << step + 1;
    ASSERT_NEAR(got.gradient_norm / want.find("grad_norm")->as_double(), 1.0, 1e-4) << "step " << step + 1;
    ASSERT_NEAR(got.learning_rate, want.find("lr")->as_double(), 1e-12) << "step " << step + 1;
  }
  for (const auto& [name, norm_and_sum] : trajectory.final_norms_and_sums()) {
    EXPECT_NEAR(norm_and_sum.first / reference.find("final_param_l2")->find(name)->as_double(), 1.0, 1e-4) << name;
  }
}

class LowPrecisionTrajectory : public ::testing::TestWithParam<config::Precision> {};
INSTANTIATE_TEST_SUITE_P(Types, LowPrecisionTrajectory,
                         ::testing::Values(config::Precision::kBfloat16, config::Precision::kFloat16));

TEST_P(LowPrecisionTrajectory, FollowsTheFp32Losses) {
  TrajectorySetup run = setup();
  run.type = GetParam() == config::Precision::kBfloat16 ? at::kBFloat16 : at::kHalf;
  run.precision.compute = GetParam();
  for (const std::int64_t parts : {1, 4}) {
    run.accumulation_steps = parts;
    Trajectory trajectory(run);
    double largest = 0.0;
    for (std::int64_t step = 0; step < kSteps; ++step) {
      const TrajectoryStep got = trajectory.step(batch_of_step(step, parts));
      EXPECT_EQ(got.action, trainer::StepAction::kApply) << "step " << step + 1;
      const base::JsonValue& want =
          expected().find("single_fp32")->find("steps")->items()[static_cast<std::size_t>(step)];
      largest = std::max(largest, std::fabs(got.loss - want.find("loss")->as_double()));
    }
    EXPECT_LT(largest, kLowPrecisionTolerance) << parts << " micro-batches";
    RecordProperty("largest_loss_difference_" + std::to_string(parts), std::to_string(largest));
  }
}

TEST(Training, GivesTheSameBitsTwice) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    TrajectorySetup run = setup();
    run.type = type;
    run.accumulation_steps = 2;
    Trajectory first(run), second(run);
    for (std::int64_t step = 0; step < 5; ++step) {
      EXPECT_EQ(first.step(batch_of_step(step, 2)).loss, second.step(batch_of_step(step, 2)).loss);
    }
    EXPECT_EQ(first.all_weights(), second.all_weights());
  }
}

}  // namespace
}  // namespace athanor::parity
