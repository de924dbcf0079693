// Logits, and eight steps with ragged targets, of every architecture and rotary kind against transformers
// (tests/parity/llama/generate.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "core/formats/safetensors.h"
#include "tests/parity/trajectory.h"

namespace athanor::parity {
namespace {

constexpr std::size_t kRows = 4, kLength = 48;

using Rows = std::vector<std::vector<std::int32_t>>;

Rows rows_of_step(const formats::SafetensorsFile& file, const char* name, std::size_t step) {
  const std::span<const std::byte> bytes = file.bytes(*file.find(name));
  Rows rows(kRows, std::vector<std::int32_t>(kLength));
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t i = 0; i < kLength; ++i) {
      std::int64_t value;
      std::memcpy(&value, bytes.data() + 8 * ((step * kRows + row) * kLength + i), 8);
      rows[row][i] = static_cast<std::int32_t>(value);
    }
  }
  return rows;
}

TrajectorySetup setup(const std::string& name, std::int64_t accumulation_steps) {
  TrajectorySetup result;
  result.model_folder = case_folder(name);
  result.accumulation_steps = accumulation_steps;
  result.optimizer = reference_adamw();
  result.schedule.type = "cosine_with_restarts";
  result.schedule.parameters.set("num_cycles", 2);
  result.schedule.warmup_steps = 2;
  result.total_steps = 8;
  return result;
}

std::vector<TrajectoryStep> run(Trajectory& trajectory, const std::string& name, std::int64_t accumulation_steps) {
  const formats::SafetensorsFile tokens(case_folder(name) + "/tokens.safetensors");
  std::vector<TrajectoryStep> steps;
  for (std::size_t step = 0; step < 8; ++step) {
    steps.push_back(trajectory.step(
        deal(rows_of_step(tokens, "input_ids", step), rows_of_step(tokens, "labels", step), accumulation_steps)));
  }
  return steps;
}

class LlamaTraining : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Cases, LlamaTraining,
                         ::testing::Values("llama", "llama-tied", "qwen2", "qwen2-tied", "llama-dynamic", "llama-yarn",
                                           "llama-llama3"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(LlamaTraining, LogitsAreThoseOfTheReference) {
  const formats::SafetensorsFile tokens(case_folder(GetParam()) + "/tokens.safetensors");
  const formats::SafetensorsFile file(case_folder(GetParam()) + "/logits.safetensors");
  const std::span<const std::byte> bytes = file.bytes(*file.find("logits"));
  const Rows row = {rows_of_step(tokens, "input_ids", 0)[0]};
  const at::Tensor logits = Trajectory(setup(GetParam(), 1)).logits(make_micro_batch(row, row)).contiguous();
  ASSERT_EQ(logits.nbytes(), bytes.size());
  for (std::int64_t i = 0; i < logits.numel(); ++i) {
    float want;
    std::memcpy(&want, bytes.data() + 4 * i, 4);
    ASSERT_NEAR(logits.data_ptr<float>()[i], want, 2e-5) << i;
  }
}

TEST_P(LlamaTraining, FollowsTheReferenceForBothAccumulations) {
  const base::JsonValue expected = base::parse_json_file(case_folder(GetParam()) + "/expected.json");
  for (const base::JsonValue& reference : expected.find("runs")->items()) {
    const std::int64_t accumulation_steps = reference.find("accumulation")->as_integer();
    Trajectory trajectory(setup(GetParam(), accumulation_steps));
    const std::vector<TrajectoryStep> steps = run(trajectory, GetParam(), accumulation_steps);
    for (std::size_t step = 0; step < steps.size(); ++step) {
      const base::JsonValue& want = reference.find("steps")->items()[step];
      EXPECT_NEAR(steps[step].loss, want.find("loss")->as_double(), 2e-5) << "step " << step + 1;
      EXPECT_NEAR(steps[step].gradient_norm / want.find("grad_norm")->as_double(), 1.0, 1e-4) << "step " << step + 1;
      EXPECT_NEAR(steps[step].learning_rate, want.find("learning_rate")->as_double(), 1e-12) << "step " << step + 1;
    }
    const base::JsonValue& first = *reference.find("steps")->items()[0].find("grad_norm_by_parameter");
    for (const base::JsonMember& member : first.members()) {
      EXPECT_NEAR(steps[0].norm_by_parameter.at(member.key) / member.value.as_double(), 1.0, 1e-3) << member.key;
    }
    const base::JsonValue& final_values = *reference.find("final_parameter_norm_and_sum");
    for (const auto& [name, norm_and_sum] : trajectory.final_norms_and_sums()) {
      const double norm = final_values.find(name)->items()[0].as_double();
      EXPECT_NEAR(norm_and_sum.first / norm, 1.0, 1e-4) << name;
      EXPECT_NEAR(norm_and_sum.second, final_values.find(name)->items()[1].as_double(), 1e-3 * norm + 1e-3) << name;
    }
  }
}

TEST_P(LlamaTraining, TheLossDoesNotDependOnTheAccumulation) {
  std::vector<std::vector<TrajectoryStep>> runs;
  for (const std::int64_t accumulation_steps : {1, 2, 4}) {
    Trajectory trajectory(setup(GetParam(), accumulation_steps));
    runs.push_back(run(trajectory, GetParam(), accumulation_steps));
  }
  for (std::size_t step = 0; step < runs[0].size(); ++step) {
    EXPECT_NEAR(runs[1][step].loss, runs[0][step].loss, 1e-5);
    EXPECT_NEAR(runs[2][step].loss, runs[0][step].loss, 1e-5);
  }
}

}  // namespace
}  // namespace athanor::parity
