// The same global batch in other parts, and told in another vocabulary, gives the same numbers.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/system/tiny_run.h"

namespace athanor {
namespace {

using testing::TinyRun;

struct Curve {
  std::vector<double> losses, gradient_norms;
};

Curve train(const TinyRun& run, const std::string& output, const std::vector<std::string>& more) {
  std::vector<std::string> flags = {"--logging_steps", "1", "--max_steps", "5", "--num_train_epochs", "5"};
  flags.insert(flags.end(), more.begin(), more.end());
  const testing::ProgramOutcome outcome = run.train(output, flags);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  Curve curve;
  const base::JsonValue state = base::parse_json_file(run.path(output) + "/trainer_state.json");
  for (const base::JsonValue& entry : state.find("log_history")->items()) {
    if (entry.find("loss") == nullptr) continue;
    curve.losses.push_back(entry.find("loss")->as_double());
    curve.gradient_norms.push_back(entry.find("grad_norm")->as_double());
  }
  return curve;
}

void expect_same(const Curve& curve, const Curve& other, const std::string& what) {
  ASSERT_EQ(curve.losses.size(), 5u) << what;
  ASSERT_EQ(other.losses.size(), 5u) << what;
  for (std::size_t i = 0; i < curve.losses.size(); ++i) {
    EXPECT_NEAR(curve.losses[i], other.losses[i], 1e-5) << what << ", step " << i + 1;
    EXPECT_NEAR(curve.gradient_norms[i] / other.gradient_norms[i], 1.0, 1e-4) << what << ", step " << i + 1;
  }
}

TEST(Layout, MicroBatchesAndAccumulationDoNotChangeTheCurve) {
  const TinyRun run;
  const auto with = [&](const char* rows, const char* accumulation) {
    return train(run, std::string("out") + rows,
                 {"--per_device_train_batch_size", rows, "--gradient_accumulation_steps", accumulation});
  };
  const Curve whole = with("8", "1");
  expect_same(with("1", "8"), whole, "8 micro-batches of 1 row");
  expect_same(with("4", "2"), whole, "2 micro-batches of 4 rows");
}

TEST(Layout, ADeepSpeedFileDoesNotChangeTheCurve) {
  const TinyRun run;
  base::write_scratch(run.path("ds.json"), R"({"train_micro_batch_size_per_gpu": "auto", "train_batch_size": "auto",
    "gradient_accumulation_steps": "auto", "gradient_clipping": "auto", "zero_optimization": {"stage": 2}})");
  const std::vector<std::string> flags = {"--per_device_train_batch_size", "1", "--gradient_accumulation_steps", "8"};
  std::vector<std::string> with_file = flags;
  with_file.insert(with_file.end(), {"--deepspeed", run.path("ds.json")});
  expect_same(train(run, "with", with_file), train(run, "without", flags), "with a DeepSpeed file");
}

TEST(Layout, RecomputingActivationsDoesNotChangeABit) {
  const TinyRun run;
  for (const char* precision : {"", "true"}) {
    ASSERT_EQ(run.train("keeps", {"--bf16", precision}).exit_code, 0);
    ASSERT_EQ(run.train("recomputes", {"--bf16", precision, "--gradient_checkpointing", "true"}).exit_code, 0);
    EXPECT_EQ(run.history("keeps"), run.history("recomputes"));
    EXPECT_EQ(run.weights("keeps"), run.weights("recomputes"));
    for (const char* output : {"keeps", "recomputes"}) std::filesystem::remove_all(run.path(output));
  }
}

}  // namespace
}  // namespace athanor
