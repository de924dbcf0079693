// `athanor tokenize` as a person runs it, and builds that are killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "core/base/json.h"
#include "core/formats/indexed_tokens.h"
#include "core/formats/tokenizer.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace athanor {
namespace {

using ::testing::HasSubstr;
using testing::ProgramOptions;
using testing::ProgramOutcome;
using testing::TemporaryFolder;

ProgramOutcome tokenize(std::vector<std::string> words, const ProgramOptions& options = {}) {
  words.insert(words.begin(), {std::string(ATHANOR_BIN_DIR) + "/athanor", "tokenize"});
  return testing::run_program(words, options);
}

ProgramOptions in_folder(const std::string& path) {
  ProgramOptions options;
  options.folder = path;
  return options;
}

ProgramOptions with_fault(const std::string& fault) {
  ProgramOptions options;
  options.environment = {{"ATHANOR_FAULT", fault}};
  return options;
}

TEST(TokenizeCommand, ShowsIdsAndPiecesOfAText) {
  const ProgramOutcome outcome = tokenize({"--tokenizer", "bytes", "h\xc3\xa9", "y"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("104  \"h\"\n"));
  EXPECT_THAT(outcome.out, HasSubstr("195  \"\\x"));
  EXPECT_THAT(outcome.out, HasSubstr("5 tokens, 5 bytes, 1.00 bytes a token"));
}

TEST(TokenizeCommand, JsonHoldsTextIdsAndPiecesAndDecodesBack) {
  const ProgramOutcome outcome = tokenize({"--tokenizer=bytes", "--json", "--add_special_tokens", "--", "--a"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const base::JsonValue shown = base::parse_json(outcome.out, "out");
  EXPECT_EQ(shown.find("text")->as_string(), "--a");
  EXPECT_EQ(shown.find("ids")->dump(), "[256, 45, 45, 97]");
  EXPECT_EQ(shown.find("pieces")->dump(), R"(["<|bos|>", "-", "-", "a"])");
  const ProgramOutcome back = tokenize({"--tokenizer", "bytes", "--decode", "[45,", "45,", "97]"});
  EXPECT_EQ(back.out, "--a\n");
}

TEST(TokenizeCommand, AFileIsReadAsItIs) {
  const TemporaryFolder folder;
  const std::string file = folder.write("a.txt", "a\n");
  EXPECT_THAT(tokenize({"--tokenizer", "bytes", "--json", "--file", file}).out, HasSubstr("[97, 10]"));
}

TEST(TokenizeCommand, WhatIsWrongIsNamedWithCodeTwo) {
  const TemporaryFolder folder;
  const std::string file = folder.write("a.txt", "a");
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"x"}, "give --tokenizer FOLDER"},
      {{"--tokenizer", folder.file("none"), "x"}, "the tokenizer does not exist"},
      {{"--tokenizer", folder.path(), "x"}, "no tokenizer.json"},
      {{"--tokenizer", "bytes", "--jsno", "x"}, "did you mean --json"},
      {{"--tokenizer", "bytes", "--file", file, "x"}, "both a text and --file"},
      {{"--tokenizer", "bytes", "--decode", "1,x"}, "is no token id"},
      {{"--tokenizer", "bytes", "--decode", "300"}, "no token has the id 300"},
      {{"build", "--tokenizer", "bytes", file}, "give --output PREFIX"},
      {{"build", "--tokenizer", "bytes", "--output", "o"}, "no file is named"},
      {{"build", "--tokenizer", "bytes", "--output", "o", folder.file("*.none")}, "no file matches"},
      {{"build", "--tokenizer", "bytes", "--output", "o", "--num_workers", "0", file}, "no number of workers"},
      {{"build", "--tokenizer", "bytes", "--output", file + "/x", file}, "a folder is needed"},
  };
  for (const auto& [words, expected] : cases) {
    const ProgramOutcome outcome = tokenize(words, in_folder(folder.path()));
    EXPECT_EQ(outcome.exit_code, 2) << expected;
    EXPECT_THAT(outcome.err, HasSubstr(expected));
    EXPECT_THAT(outcome.err, HasSubstr("  do: "));
  }
}

class TokenizeBuild : public ::testing::Test {
 protected:
  ProgramOutcome build(const std::vector<std::string>& files, std::vector<std::string> flags = {},
                       const ProgramOptions& options = {}) {
    std::vector<std::string> words = {"build", "--tokenizer", "bytes", "--output", prefix_};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), files.begin(), files.end());
    return tokenize(words, options);
  }
  bool has(const char* suffix) const { return std::filesystem::exists(prefix_ + suffix); }

  TemporaryFolder folder_;
  std::string prefix_ = folder_.file("out/data");
  const std::string rows_ = folder_.write("rows.jsonl", "{\"text\":\"ab\"}\n\n{\"text\":\"c\"}\n");
  const std::string text_ = folder_.write("text.txt", "de\n");
};

TEST_F(TokenizeBuild, WritesEveryDocumentWithBosAndEosInTheOrderOfTheFiles) {
  const ProgramOutcome outcome = build({text_, rows_});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("3 documents, 12 tokens as uint16"));
  EXPECT_THAT(outcome.err, HasSubstr("(100%)"));
  const formats::IndexedTokens tokens = formats::IndexedTokens::open(prefix_);
  EXPECT_EQ(tokens.sequence(0), (std::vector<std::int32_t>{256, 'd', 'e', '\n', 257}));
  EXPECT_EQ(tokens.sequence(1), (std::vector<std::int32_t>{256, 'a', 'b', 257}));
  EXPECT_EQ(tokens.sequence(2), (std::vector<std::int32_t>{256, 'c', 257}));
  EXPECT_EQ(tokens.num_documents(), 3);
  EXPECT_FALSE(has(".lock"));
}

TEST_F(TokenizeBuild, EdgesCanBeLeftOut) {
  ASSERT_EQ(build({rows_}, {"--no_bos", "--no_eos"}).exit_code, 0);
  EXPECT_EQ(formats::IndexedTokens::open(prefix_).sequence(0), (std::vector<std::int32_t>{'a', 'b'}));
}

TEST_F(TokenizeBuild, TheNumberOfWorkersDoesNotChangeABit) {
  std::string many;
  for (int i = 0; many.size() < (9 << 20); ++i) many += "{\"text\":\"row " + std::to_string(i * 7919) + " of many\"}\n";
  const std::string file = folder_.write("many.jsonl", many);
  ASSERT_EQ(build({file, rows_}, {"--num_workers", "1"}).exit_code, 0);
  const std::string data = base::read_file(prefix_ + ".bin");
  const std::string index = base::read_file(prefix_ + ".idx");
  ASSERT_EQ(build({file, rows_}, {"--num_workers", "3"}).exit_code, 0);
  EXPECT_TRUE(base::read_file(prefix_ + ".bin") == data);
  EXPECT_TRUE(base::read_file(prefix_ + ".idx") == index);
}

TEST_F(TokenizeBuild, ABadLineIsNamedByItsLineInTheFileAndNothingIsWritten) {
  std::string many;
  int lines = 0;
  for (; many.size() < (5 << 20); ++lines) many += "{\"text\":\"a row that is fine\"}\n";
  const std::string file = folder_.write("many.jsonl", many + "{\"text\": tru}\n");
  const ProgramOutcome outcome = build({rows_, file});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr(file + ":" + std::to_string(lines + 1)));
  EXPECT_FALSE(has(".bin"));
  EXPECT_FALSE(has(".idx"));
  const ProgramOutcome skipping = build({rows_, file}, {"--skip_bad_lines"});
  EXPECT_EQ(skipping.exit_code, 0);
  EXPECT_THAT(skipping.out, HasSubstr("1 lines were left out"));
}

TEST_F(TokenizeBuild, ConversationsAreRefusedSinceTheirPromptsCouldNotBeMarked) {
  const std::string file = folder_.write("chat.jsonl", R"({"instruction":"say a","output":"a"})");
  const ProgramOutcome outcome = build({file});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("not learnt, which .bin/.idx files cannot mark"));
  EXPECT_THAT(outcome.err, HasSubstr("chat.jsonl:1"));
}

TEST_F(TokenizeBuild, AKilledBuildLeavesTheOldPairOrNone) {
  for (const char* point : {"cache_mid_write", "cache_before_commit"}) {
    const ProgramOptions armed = with_fault(std::string(point) + "=kill");
    std::filesystem::remove(prefix_ + ".bin");
    std::filesystem::remove(prefix_ + ".idx");
    const ProgramOutcome killed = build({rows_}, {}, armed);
    EXPECT_EQ(killed.end_signal, SIGKILL);
    EXPECT_THAT(killed.err, HasSubstr("fired"));
    EXPECT_FALSE(has(".bin"));
    EXPECT_FALSE(has(".idx"));
    ASSERT_EQ(build({rows_}).exit_code, 0);  // what the killed one left does not stand in the way
    EXPECT_EQ(build({text_}, {}, armed).end_signal, SIGKILL);
    EXPECT_EQ(formats::IndexedTokens::open(prefix_).num_documents(), 2);
  }
}

TEST_F(TokenizeBuild, AFullDiskIsTheMachinesFault) {
  const ProgramOutcome outcome = build({rows_}, {}, with_fault("cache_mid_write=enospc"));
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_FALSE(has(".idx"));
}

}  // namespace
}  // namespace athanor
