// Bad input, as text: every case in tests/fixtures/bad_input/*.cases runs the shipped binary in a fresh folder and must end with
// the given exit code and a message that names the thing, its place and a remedy. Adding a case is adding a paragraph:
//
//   # what is wrong (the test's name)
//   $ shell command that prepares the folder (any number; $MODEL is a folder with a tiny model, $ROWS its rows)
//   > shell command under test (athanor is on the PATH)
//   = exit code
//   ~ text that standard error must contain (any number)
//   ! path that must not exist afterwards (any number)
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "core/base/file.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace athanor {
namespace {

struct Case {
  std::string where;
  std::string name;
  std::vector<std::string> setup;
  std::string command;
  int exit_code = -1;
  std::vector<std::string> texts;
  std::vector<std::string> absent;
};

std::vector<Case> read_cases() {
  std::vector<Case> cases;
  for (const std::string& path : base::expand_glob(ATHANOR_SOURCE_DIR "/tests/fixtures/bad_input/*.cases")) {
    std::istringstream lines(base::read_file(path));
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
      if (line.size() < 2 || line[1] != ' ') continue;
      const std::string rest = line.substr(2);
      if (line[0] == '#') {
        cases.push_back({});
        cases.back().where = std::filesystem::path(path).filename().string() + ":" + std::to_string(number);
        cases.back().name = rest;
      } else if (line[0] == '$') {
        cases.back().setup.push_back(rest);
      } else if (line[0] == '>') {
        cases.back().command = rest;
      } else if (line[0] == '=') {
        cases.back().exit_code = std::stoi(rest);
      } else if (line[0] == '~') {
        cases.back().texts.push_back(rest);
      } else if (line[0] == '!') {
        cases.back().absent.push_back(rest);
      }
    }
  }
  return cases;
}

class BadInput : public ::testing::TestWithParam<Case> {};

TEST_P(BadInput, IsAnsweredWithPlaceAndRemedy) {
  const Case& input = GetParam();
  testing::TemporaryFolder folder;
  testing::ProgramOptions options;
  options.folder = folder.path();
  options.environment = {{"PATH", std::string(ATHANOR_BIN_DIR) + ":" + ::getenv("PATH")},
                         {"MODEL", ATHANOR_SOURCE_DIR "/tests/parity/llama"},
                         {"ROWS", ATHANOR_SOURCE_DIR "/tests/parity/llama/data.jsonl"}};
  for (const std::string& command : input.setup) {
    const testing::ProgramOutcome done = testing::run_program({"sh", "-ec", command}, options);
    ASSERT_EQ(done.exit_code, 0) << input.where << " setup: " << command << "\n" << done.err;
  }
  const testing::ProgramOutcome outcome = testing::run_program({"sh", "-c", input.command}, options);
  const std::string shown = input.where + ": " + input.name + "\n> " + input.command + "\n" + outcome.out + outcome.err;
  EXPECT_EQ(outcome.end_signal, 0) << shown;
  EXPECT_FALSE(outcome.timed_out) << shown;
  EXPECT_EQ(outcome.exit_code, input.exit_code) << shown;
  for (const std::string& text : input.texts)
    EXPECT_NE(outcome.err.find(text), std::string::npos) << text << "\n" << shown;
  EXPECT_NE(outcome.err.find("  do: "), std::string::npos) << "no remedy\n" << shown;
  for (const char* trace : {"terminate called", "Exception raised from", "frame #", "bug:"}) {
    EXPECT_EQ(outcome.err.find(trace), std::string::npos) << shown;
  }
  for (const std::string& path : input.absent)
    EXPECT_FALSE(std::filesystem::exists(folder.file(path))) << path << "\n" << shown;
}

INSTANTIATE_TEST_SUITE_P(Cases, BadInput, ::testing::ValuesIn(read_cases()), [](const auto& instance) {
  std::string name;
  for (const char c : instance.param.name) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name + "_" + std::to_string(instance.index);
});

TEST(BadInputTable, HoldsAtLeastSixtyCases) { EXPECT_GE(read_cases().size(), 60u); }

}  // namespace
}  // namespace athanor
