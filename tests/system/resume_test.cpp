// A run that was stopped anywhere and resumed has the bits of one that was not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/system/tiny_run.h"

namespace athanor {
namespace {

using ::testing::HasSubstr;
using testing::ProgramOutcome;
using testing::TinyRun;

struct Variant {
  const char* name;
  std::vector<std::string> arguments;
};

void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

const Variant kVariants[] = {
    {"fp32", {}},
    {"packed_bf16", {"--packing", "true", "--bf16", "true"}},
    {"fp16_grouped", {"--fp16", "true", "--train_sampling_strategy", "group_by_length"}},
    {"evaluated_lion",
     {"--optim", "lion", "--learning_rate", "1e-3", "--eval_strategy", "steps", "--eval_steps", "3",
      "--neftune_noise_alpha", "5"}},
    {"plateau_token_budget",
     {"--eval_strategy", "steps", "--eval_steps", "2", "--lr_scheduler_type", "reduce_lr_on_plateau",
      "--lr_scheduler_kwargs", R"({"patience": 0, "threshold": 0.5, "factor": 0.5})", "--tokens_per_batch", "128",
      "--gradient_checkpointing", "true"}},
};

class Resume : public ::testing::TestWithParam<Variant> {};
INSTANTIATE_TEST_SUITE_P(Variants, Resume, ::testing::ValuesIn(kVariants),
                         [](const auto& test) { return test.param.name; });

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_P(Resume, GivesTheBitsOfAnUnbrokenRun) {
  const TinyRun run;
  std::vector<std::string> arguments = GetParam().arguments;
  const bool evaluates = std::find(arguments.begin(), arguments.end(), "--eval_strategy") != arguments.end();
  if (evaluates) arguments = with(arguments, {"--validation_file", run.path("validation.jsonl")});
  const ProgramOutcome whole = run.train("whole", with(arguments, {"--save_strategy", "steps", "--save_steps", "1"}));
  ASSERT_EQ(whole.exit_code, 0) << whole.out << whole.err;
  ASSERT_EQ(run.checkpoints("whole").size(), 10u);
  // In the warm-up, within and at the end of an epoch, before and after an evaluation.
  for (int step = 1; step < 10; ++step) {
    const std::string output = "resumed" + std::to_string(step);
    const ProgramOutcome resumed = run.train(
        output, with(arguments, {"--resume_from_checkpoint", run.path("whole/checkpoint-" + std::to_string(step))}));
    ASSERT_EQ(resumed.exit_code, 0) << resumed.out << resumed.err;
    EXPECT_EQ(resumed.out.find(" now, it was "), std::string::npos) << resumed.out;
    ASSERT_TRUE(run.weights(output) == run.weights("whole")) << "resumed after step " << step;
    ASSERT_EQ(run.history(output), run.history("whole")) << "resumed after step " << step;
  }
}

TEST(Schedule, FollowsTheEvaluationWhereAskedTo) {
  const TinyRun run;
  const ProgramOutcome outcome = run.train(
      "out", {"--eval_strategy", "steps", "--eval_steps", "2", "--validation_file", run.path("validation.jsonl"),
              "--lr_scheduler_type", "reduce_lr_on_plateau", "--lr_scheduler_kwargs",
              R"({"patience": 0, "threshold": 0.5, "factor": 0.5})", "--logging_steps", "1"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("step 4: reduce_lr_on_plateau sets the learning rate from 0.01 to 0.005"));
  std::vector<double> rates;
  const base::JsonValue state = base::parse_json_file(run.path("out/trainer_state.json"));
  for (const base::JsonValue& entry : state.find("log_history")->items()) {
    if (entry.find("learning_rate") != nullptr) rates.push_back(entry.find("learning_rate")->as_double());
  }
  // The first evaluation is the best so far; each later one halves.
  EXPECT_EQ(rates, (std::vector<double>{0.01, 0.01, 0.01, 0.01, 0.005, 0.005, 0.0025, 0.0025, 0.00125, 0.00125}));
}

TEST(SameSeed, GivesTheSameBitsTwiceAndAnotherSeedDoesNot) {
  const TinyRun run;
  ASSERT_EQ(run.train("first").exit_code, 0);
  ASSERT_EQ(run.train("second").exit_code, 0);
  ASSERT_EQ(run.train("other", {"--seed", "43"}).exit_code, 0);
  EXPECT_TRUE(run.weights("first") == run.weights("second"));
  EXPECT_EQ(run.history("first"), run.history("second"));
  EXPECT_FALSE(run.weights("first") == run.weights("other"));
}

// Killed at every named instant of the second save, and between and within steps.
TEST(Kill, AtEveryFaultPointThenResumeGivesTheSameBits) {
  const TinyRun run;
  const std::vector<std::string> saving = {"--save_strategy", "steps", "--save_steps", "3", "--save_total_limit", "2"};
  ASSERT_EQ(run.train("whole", saving).exit_code, 0);
  // The first save writes two tensor files, so the third pass of mid_write is the second save's first.
  for (const char* fault :
       {"step_begin:1", "step_begin:5", "step_end:3", "step_end:8", "checkpoint_begin:1", "checkpoint_mid_write:1",
        "checkpoint_before_rename:1", "checkpoint_begin:2", "checkpoint_mid_write:3", "checkpoint_mid_write:4",
        "checkpoint_before_manifest:2", "checkpoint_before_rename:2", "checkpoint_after_rename:2",
        "trainer_state_before_write:2"}) {
    const std::string output = std::string("killed_") + fault;
    const ProgramOutcome killed = run.train(output, saving, std::string(fault) + "=kill");
    ASSERT_EQ(killed.end_signal, SIGKILL) << fault << killed.out << killed.err;
    ASSERT_THAT(killed.err, HasSubstr("fired"));
    const ProgramOutcome resumed = run.train(output, with(saving, {"--resume_from_checkpoint", "true"}));
    ASSERT_EQ(resumed.exit_code, 0) << fault << resumed.out << resumed.err;
    EXPECT_TRUE(run.weights(output) == run.weights("whole")) << fault;
    EXPECT_EQ(run.history(output), run.history("whole")) << fault;
    EXPECT_EQ(run.checkpoints(output), run.checkpoints("whole")) << fault;
  }
}

TEST(Resume, FallsBackToTheLastWholeCheckpointAndSaysSo) {
  const TinyRun run;
  const std::vector<std::string> saving = {"--save_strategy", "steps", "--save_steps", "3"};
  ASSERT_EQ(run.train("out", saving).exit_code, 0);
  const std::string weights = run.weights("out");
  std::filesystem::remove(run.path("out/checkpoint-10/optimizer.safetensors"));
  const ProgramOutcome resumed = run.train("out", with(saving, {"--resume_from_checkpoint", "true"}));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.out,
              HasSubstr("checkpoint-10 is not whole (optimizer.safetensors is missing), using checkpoint-9"));
  EXPECT_TRUE(run.weights("out") == weights);
}

TEST(Resume, RefusesAnotherModelOtherDataAndHalfCheckpoints) {
  const TinyRun run;
  ASSERT_EQ(run.train("out", {"--save_strategy", "steps", "--save_steps", "5"}).exit_code, 0);
  const std::vector<std::string> resume = {"--resume_from_checkpoint", run.path("out/checkpoint-5")};
  const ProgramOutcome other_model = run.train("a", with(resume, {"--config_overrides", "intermediate_size=48"}));
  EXPECT_EQ(other_model.exit_code, 2);
  EXPECT_THAT(other_model.err, HasSubstr("mlp.gate_proj.weight is [64, 32] there and [48, 32] here"));
  const ProgramOutcome other_data = run.train("b", with(resume, {"--max_train_samples", "20"}));
  EXPECT_EQ(other_data.exit_code, 2);
  EXPECT_THAT(other_data.err, HasSubstr("training data is not what the checkpoint was trained on"));
  const ProgramOutcome other_rate = run.train("c", with(resume, {"--learning_rate", "5e-3"}));
  EXPECT_EQ(other_rate.exit_code, 0);
  EXPECT_THAT(other_rate.out, HasSubstr("learning_rate is 0.005 now, it was 0.01"));
  std::filesystem::remove(run.path("out/checkpoint-5/state.json"));
  const ProgramOutcome half = run.train("d", resume);
  EXPECT_EQ(half.exit_code, 2);
  EXPECT_THAT(half.err, HasSubstr("not whole (state.json is missing)"));
}

TEST(OutputFolder, OfAnotherRunIsNotOverwrittenUnasked) {
  const TinyRun run;
  const std::vector<std::string> saving = {"--save_strategy", "steps", "--save_steps", "4"};
  ASSERT_EQ(run.train("out", saving).exit_code, 0);
  const ProgramOutcome again = run.train("out", saving);
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("already holds a run (checkpoint-10)"));
  EXPECT_THAT(again.err, HasSubstr("--resume_from_checkpoint true"));
  ASSERT_EQ(run.train("out", with(saving, {"--overwrite_output_dir", "true", "--max_steps", "4"})).exit_code, 0);
  EXPECT_EQ(run.checkpoints("out"), std::vector<std::string>{"checkpoint-4"});
  // Nothing there yet: resuming begins at the beginning and says so.
  const ProgramOutcome fresh = run.train("fresh", {"--resume_from_checkpoint", "true"});
  EXPECT_EQ(fresh.exit_code, 0) << fresh.err;
  EXPECT_THAT(fresh.out, HasSubstr("there is no checkpoint yet: starting from the beginning"));
}

}  // namespace
}  // namespace athanor
