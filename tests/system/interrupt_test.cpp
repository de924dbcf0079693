// Signals: the step in hand is finished, a checkpoint is written, the exit code is 6, and nothing is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/system/tiny_run.h"

namespace athanor {
namespace {

using ::testing::HasSubstr;
using testing::ProgramOutcome;
using testing::RunningProgram;
using testing::TinyRun;

// Long enough to be met by a signal on any machine; resumed to the end all the same.
const std::vector<std::string> kLong = {"--max_steps", "400", "--logging_steps", "1", "--num_train_epochs", "1"};

TEST(Interrupt, EndsAtTheEdgeOfAStepWithACheckpointAndLosesNothing) {
  const TinyRun run;
  ASSERT_EQ(run.train("whole", kLong).exit_code, 0);
  for (const int signal_number : {SIGTERM, SIGINT, SIGUSR1}) {
    const std::string output = "stopped" + std::to_string(signal_number);
    RunningProgram program(run.command(output, kLong), TinyRun::options());
    ASSERT_TRUE(program.wait_for_text("step 20/400"));
    program.send_signal(signal_number);
    const ProgramOutcome stopped = program.finish();
    ASSERT_EQ(stopped.exit_code, 6) << stopped.out << stopped.err;
    EXPECT_THAT(stopped.out, HasSubstr("stopped after step"));
    EXPECT_EQ(run.checkpoints(output).size(), 1u);
    std::vector<std::string> resume = kLong;
    resume.insert(resume.end(), {"--resume_from_checkpoint", "true"});
    ASSERT_EQ(run.train(output, resume).exit_code, 0);
    EXPECT_TRUE(run.weights(output) == run.weights("whole"));
    EXPECT_EQ(run.history(output), run.history("whole"));
  }
}

TEST(Interrupt, DuringAnEvaluationEndsItAndTheEvaluationIsMadeUpFor) {
  const TinyRun run;
  // A validation set that takes seconds: the signal comes while it is evaluated.
  std::string rows;
  for (int i = 0; i < 4000; ++i)
    rows += "{\"text\": \"abcdefabcdefabcdefabcdefabcdefabcdefabcdefabcdefabcdef" + std::to_string(i) + "\"}\n";
  base::write_scratch(run.path("large.jsonl"), rows);
  const std::vector<std::string> evaluated = {"--validation_file",
                                              run.path("large.jsonl"),
                                              "--eval_strategy",
                                              "steps",
                                              "--eval_steps",
                                              "4",
                                              "--logging_steps",
                                              "1",
                                              "--max_steps",
                                              "6",
                                              "--per_device_eval_batch_size",
                                              "4"};
  ASSERT_EQ(run.train("whole", evaluated).exit_code, 0);
  RunningProgram program(run.command("stopped", evaluated), TinyRun::options());
  ASSERT_TRUE(program.wait_for_text("step 4/6  loss"));
  program.send_signal(SIGTERM);
  const ProgramOutcome stopped = program.finish();
  ASSERT_EQ(stopped.exit_code, 6) << stopped.out << stopped.err;
  EXPECT_EQ(stopped.out.find("eval_loss"), std::string::npos) << "the evaluation should have been cut short";
  EXPECT_EQ(run.checkpoints("stopped"), std::vector<std::string>{"checkpoint-4"});
  std::vector<std::string> resume = evaluated;
  resume.insert(resume.end(), {"--resume_from_checkpoint", "true"});
  ASSERT_EQ(run.train("stopped", resume).exit_code, 0);
  EXPECT_EQ(run.history("stopped"), run.history("whole"));
  EXPECT_TRUE(run.weights("stopped") == run.weights("whole"));
}

TEST(Interrupt, ASecondSigintEndsAtOnce) {
  const TinyRun run;
  // The process stops itself where the interrupted run begins to save; the second signal meets it there.
  RunningProgram program(run.command("out", {"--max_steps", "100000", "--logging_steps", "1"}),
                         TinyRun::options("checkpoint_begin=stop"));
  ASSERT_TRUE(program.wait_for_text("step 2/100000"));
  program.send_signal(SIGINT);
  ASSERT_TRUE(program.wait_for_text("checkpoint_begin fired"));
  program.send_signal(SIGINT);
  program.send_signal(SIGCONT);
  EXPECT_EQ(program.finish().exit_code, 130);
  ASSERT_EQ(run.checkpoints("out").size(), 1u);
  EXPECT_THAT(run.checkpoints("out")[0], ::testing::EndsWith(".tmp-athanor"));
}

TEST(Interrupt, BeforeTheFirstStepThereIsNothingToSave) {
  const TinyRun run;
  std::string rows;
  for (int i = 0; i < 200000; ++i) rows += "{\"text\": \"abcdefabcdefabcdefabcdef" + std::to_string(i) + "\"}\n";
  base::write_scratch(run.path("large.jsonl"), rows);
  RunningProgram program(run.command("out", {"--train_file", run.path("large.jsonl")}), TinyRun::options());
  ASSERT_TRUE(program.wait_for_text("model  "));
  program.send_signal(SIGTERM);
  const ProgramOutcome stopped = program.finish();
  EXPECT_EQ(stopped.exit_code, 6) << stopped.out;
  EXPECT_TRUE(run.checkpoints("out").empty() || stopped.out.find("stopped after step") != std::string::npos);
}

}  // namespace
}  // namespace athanor
