// `athanor lr` as a person uses it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace athanor {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class LrTest : public ::testing::Test {
 protected:
  testing::ProgramOutcome lr(std::vector<std::string> words, const std::string& locale = "C.UTF-8") {
    words.insert(words.begin(), {std::string(ATHANOR_BIN_DIR) + "/athanor", "lr"});
    testing::ProgramOptions options;
    options.folder = folder_.path();
    options.environment = {{"LC_ALL", locale}};
    return testing::run_program(words, options);
  }

  testing::TemporaryFolder folder_;
};

TEST_F(LrTest, FlagsAloneDrawAPlotAndWriteAnSvg) {
  const auto outcome = lr({"--lr_scheduler_type", "cosine", "--max_steps=100", "--warmup_steps", "10",
                           "--learning_rate", "1e-3", "--svg", "lr.svg"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("cosine, 100 updates, learning rate 1e-3\n"));
  EXPECT_THAT(outcome.out, HasSubstr("\u2524"));
  EXPECT_THAT(outcome.out, HasSubstr("learning rate   0.0000e+00  9.4147e-04"));
  EXPECT_THAT(outcome.out, HasSubstr("written: lr.svg"));
  const std::string svg = base::read_file(folder_.file("lr.svg"));
  EXPECT_THAT(svg, StartsWith("<svg "));
  EXPECT_THAT(svg, EndsWith("</svg>\n"));
}

TEST_F(LrTest, ALocaleWithoutUnicodeGetsAscii) {
  const auto outcome = lr({"--max_steps", "10"}, "C");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char c : outcome.out) ASSERT_LT(static_cast<unsigned char>(c), 0x80);
  EXPECT_THAT(outcome.out, StartsWith("linear, 10 updates, learning rate 5e-5"));
}

TEST_F(LrTest, CsvAndJsonHoldEveryUpdateAtFullPrecision) {
  const std::vector<std::string> run = {"--max_steps", "3", "--learning_rate", "1e-3"};
  std::vector<std::string> words = run;
  words.emplace_back("--csv");
  EXPECT_EQ(lr(words).out, "update,learning_rate\n0,0.001\n1,0.0006666666666666666\n2,0.0003333333333333333\n");
  words.back() = "--json";
  const base::JsonValue json = base::parse_json(lr(words).out, "output");
  EXPECT_EQ(json.find("num_updates")->as_integer(), 3);
  EXPECT_EQ(json.find("learning_rate")->items().at(2).as_double(), 0.0003333333333333333);
  words.emplace_back("--csv");
  EXPECT_EQ(lr(words).exit_code, 2);
}

TEST_F(LrTest, ARunFileAndADeepSpeedFileAreReadAsTrainingReadsThem) {
  folder_.write("run.yaml", "learning_rate: 3.0e-4\nmax_steps: 50\ndeepspeed: ds.json\n");
  folder_.write("ds.json", R"({"train_micro_batch_size_per_gpu": "auto",  // a comment
    "scheduler": {"type": "OneCycle", "params": {"cycle_min_lr": 1e-5, "cycle_max_lr": 1e-3, "cycle_first_step_size": 20}}})");
  const auto outcome = lr({"run.yaml"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("OneCycle (DeepSpeed), 50 updates"));
  EXPECT_THAT(outcome.out, HasSubstr("beta1               0.8000"));
  const auto listed = lr({"run.yaml", "--csv"});
  EXPECT_THAT(listed.out, StartsWith("update,learning_rate,beta1,beta2\n0,1e-05,0.8,0.99\n"));
}

TEST_F(LrTest, WhatCannotBeDrawnIsRefusedWithARemedy) {
  const auto unknown = lr({"--lr_scheduler_type", "cosin", "--max_steps", "5"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean cosine?"));
  const auto endless = lr({"--lr_scheduler_type", "cosine"});
  EXPECT_EQ(endless.exit_code, 2);
  EXPECT_THAT(endless.err, HasSubstr("--max_steps N"));
  const auto long_warmup = lr({"--warmup_steps", "20", "--max_steps", "5"});
  EXPECT_EQ(long_warmup.exit_code, 2);
  EXPECT_THAT(long_warmup.err, HasSubstr("warmup_steps 20 are more than"));
  const auto nowhere = lr({"--max_steps", "5", "--svg", "no/such/folder/lr.svg"});
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("no/such/folder"));
}

}  // namespace
}  // namespace athanor
