// fp16 that overflows: told apart, counted, stopped where nothing can help.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "core/formats/safetensors.h"
#include "tests/system/tiny_run.h"

namespace athanor {
namespace {

using ::testing::HasSubstr;
using testing::ProgramOutcome;
using testing::TinyRun;

std::string fp16_json(const TinyRun& run, const std::string& options) {
  base::write_scratch(run.path("ds.json"),
                      R"({"train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": "auto",
    "gradient_clipping": "auto", "fp16": {"enabled": true, )" +
                          options + "}}");
  return run.path("ds.json");
}

TEST(Overflow, OfScaledGradientsAloneIsSkippedAndDoesNotMoveTheSchedule) {
  const TinyRun run;
  const std::string json = fp16_json(run, R"("initial_scale_power": 24, "hysteresis": 1)");
  const ProgramOutcome outcome = run.train("out", {"--deepspeed", json, "--logging_steps", "1", "--lr_scheduler_type",
                                                   "linear", "--warmup_steps", "0", "--max_steps", "20"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out,
              HasSubstr("3 steps in a row were skipped: the loss is finite, only gradients are not, first that of"));
  const base::JsonValue state = base::parse_json_file(run.path("out/trainer_state.json"));
  std::int64_t skipped_before = 0;
  for (const base::JsonValue& entry : state.find("log_history")->items()) {
    if (entry.find("learning_rate") == nullptr) continue;
    const double step = entry.find("step")->as_double();
    // The rate of a step depends on the updates that were applied before it.
    const double expected = 1e-2 * (20.0 - (step - 1.0 - static_cast<double>(skipped_before))) / 20.0;
    EXPECT_NEAR(entry.find("learning_rate")->as_double(), expected, 1e-12) << "step " << step;
    const base::JsonValue* skipped = entry.find("skipped_steps");
    const std::int64_t skipped_now = skipped == nullptr ? 0 : skipped->as_integer();
    EXPECT_NE(entry.find("loss_scale"), nullptr);
    skipped_before = skipped_now;
  }
  EXPECT_GE(skipped_before, 3);
  EXPECT_LT(skipped_before, 15);
}

// Every value of a tensor in a file becomes `value`.
void fill_tensor(const std::string& path, const std::string& name, float value) {
  std::string bytes = base::read_file(path);
  const formats::SafetensorsFile file(path);
  const std::span<const std::byte> tensor = file.bytes(*file.find(name));
  const std::string original(reinterpret_cast<const char*>(tensor.data()), tensor.size());
  const std::size_t at = bytes.find(original);
  for (std::size_t i = 0; i < tensor.size(); i += sizeof value)
    std::memcpy(bytes.data() + at + i, &value, sizeof value);
  base::write_whole(path, bytes);
}

TEST(Overflow, OfTheLossItselfStopsByTheFourthStepAndNamesTheLayer) {
  const TinyRun run;
  ASSERT_EQ(run.train("model", {"--max_steps", "4"}).exit_code, 0);
  fill_tensor(run.path("model/model.safetensors"), "model.layers.1.mlp.down_proj.weight", 60000.0f);
  const std::string json = fp16_json(run, R"("initial_scale_power": 16, "hysteresis": 2)");
  const ProgramOutcome outcome =
      run.train("out", {"--config_name", "", "--model_name_or_path", run.path("model"), "--deepspeed", json});
  EXPECT_EQ(outcome.exit_code, 5) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("the loss itself is not finite"));
  EXPECT_THAT(outcome.err, HasSubstr("the output of layers.1"));
  EXPECT_THAT(outcome.err, HasSubstr("lowering the loss scale will not help"));
  EXPECT_THAT(outcome.err, HasSubstr("do: train with --bf16 true"));
  EXPECT_EQ(outcome.out.find("step 4 skipped"), std::string::npos);
}

TEST(Overflow, WithoutAScalerStopsBeforeTheWeightsAreSpoilt) {
  const TinyRun run;
  const ProgramOutcome outcome =
      run.train("out", {"--learning_rate", "1e30", "--lr_scheduler_type", "constant", "--warmup_steps", "0",
                        "--max_grad_norm", "0", "--save_strategy", "steps", "--save_steps", "1"});
  EXPECT_EQ(outcome.exit_code, 5) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("continue from the last checkpoint"));
}

TEST(Overflow, AtTheSmallestScaleIsDeepSpeedsStop) {
  const TinyRun run;
  const std::string json = fp16_json(run, R"("initial_scale_power": 30, "hysteresis": 1, "min_loss_scale": 268435456)");
  const ProgramOutcome outcome = run.train("out", {"--deepspeed", json});
  EXPECT_EQ(outcome.exit_code, 5) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("overflow at the smallest loss scale"));
}

}  // namespace
}  // namespace athanor
