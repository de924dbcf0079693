// Text from a model that was just trained.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/system/tiny_run.h"

namespace athanor {
namespace {

using ::testing::HasSubstr;
using testing::ProgramOutcome;
using testing::TinyRun;

ProgramOutcome generate(const TinyRun& run, const std::vector<std::string>& more) {
  std::vector<std::string> words = {std::string(ATHANOR_BIN_DIR) + "/athanor-engine", "generate", run.path("out")};
  words.insert(words.end(), more.begin(), more.end());
  return testing::run_program(words, TinyRun::options());
}

TEST(Generate, ContinuesTheTextItWasTrainedOn) {
  const TinyRun run;
  std::string rows;
  for (int i = 0; i < 16; ++i) rows += "{\"text\": \"abcdefabcdefabcdefabcdef\"}\n";
  base::write_scratch(run.path("rows.jsonl"), rows);
  ASSERT_EQ(
      run.train("out", {"--train_file", run.path("rows.jsonl"), "--max_steps", "40", "--warmup_steps", "5"}).exit_code,
      0);
  const ProgramOutcome greedy = generate(run, {"--prompt", "abcdefabc", "--max_new_tokens", "9"});
  EXPECT_EQ(greedy.exit_code, 0) << greedy.err;
  EXPECT_EQ(greedy.out, "defabcdef\n");
  EXPECT_THAT(greedy.err, HasSubstr("9 tokens"));
  const ProgramOutcome to_the_end = generate(run, {"--prompt", "abcdefabcdefabcdefab"});
  EXPECT_EQ(to_the_end.out, "cdef\n");
  EXPECT_THAT(to_the_end.err, HasSubstr("to the end of the text"));

  const std::vector<std::string> sampled = {"--prompt=ab", "--temperature", "3", "--top_p", "0.99", "--seed", "7"};
  const ProgramOutcome first = generate(run, sampled);
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(generate(run, sampled).out, first.out) << "one seed, one text";
  EXPECT_NE(generate(run, {"--prompt=ab", "--temperature", "3", "--top_p", "0.99", "--seed", "8"}).out, first.out);

  const ProgramOutcome misspelt = generate(run, {"--prompt", "a", "--temprature", "1"});
  EXPECT_EQ(misspelt.exit_code, 2);
  EXPECT_THAT(misspelt.err, HasSubstr("did you mean --temperature?"));
  const ProgramOutcome too_long = generate(run, {"--prompt", std::string(70, 'a')});
  EXPECT_EQ(too_long.exit_code, 2);
  EXPECT_THAT(too_long.err, HasSubstr("the prompt has 71 tokens, the model takes 64"));
  EXPECT_EQ(generate(run, {"--prompt", "a", "--top_p", "1.5"}).exit_code, 2);
}

TEST(Generate, TakesAndGivesTokenIdsWithoutATokenizer) {
  const TinyRun run;
  base::write_scratch(run.path("rows.jsonl"), std::string("{\"input_ids\": [5, 6, 7, 8, 5, 6, 7, 8, 5, 6, 7, 8]}\n") +
                                                  "{\"input_ids\": [6, 7, 8, 5, 6, 7, 8, 5, 6, 7, 8, 5]}\n");
  ASSERT_EQ(run.train("out", {"--train_file", run.path("rows.jsonl"), "--max_steps", "40"}).exit_code, 0);
  std::filesystem::remove(run.path("out") + "/tokenizer.json");
  const ProgramOutcome ids =
      generate(run, {"--prompt_ids", "5,6,7", "--max_new_tokens", "4", "--ignore_eos", "--output_ids"});
  EXPECT_EQ(ids.exit_code, 0) << ids.err;
  EXPECT_EQ(ids.out, "8 5 6 7\n");

  struct Bad {
    std::vector<std::string> words;
    std::string message;
  };
  const std::vector<Bad> bad = {
      {{"--prompt_ids", "5", "--prompt", "a", "--output_ids"}, "--prompt_ids"},
      {{"--prompt_ids", "5,100000", "--output_ids"}, "100000"},
      {{"--prompt_ids", "5,-1", "--output_ids"}, "-1"},
      {{"--prompt_ids", "5,x", "--output_ids"}, "a number is wanted, not \"x\""},
      {{"--prompt_ids", "5", "--output_ids", "maybe"}, "true or false is wanted"},
  };
  for (const Bad& each : bad) {
    const ProgramOutcome outcome = generate(run, each.words);
    EXPECT_EQ(outcome.exit_code, 2) << each.message;
    EXPECT_THAT(outcome.err, HasSubstr(each.message));
    EXPECT_EQ(outcome.out, "");
  }
}

}  // namespace
}  // namespace athanor
