// Small inputs that are refused, each with its place and remedy: tests/fixtures/deepspeed/bad_inputs.txt.
#include <gtest/gtest.h>

#include <sstream>

#include "core/base/file.h"
#include "core/config/deepspeed.h"

namespace athanor::config {
namespace {

struct ExpectedProblem {
  std::string place;
  std::string what;
  std::string remedy;
};

struct BadInput {
  std::string name;
  std::string text;
  std::vector<ExpectedProblem> problems;
};

ExpectedProblem read_problem(const std::string& line) {
  const std::size_t first = line.find(" | ");
  const std::size_t second = line.find(" | ", first + 3);
  return {line.substr(0, first), line.substr(first + 3, second - first - 3), line.substr(second + 3)};
}

std::vector<BadInput> read_bad_inputs() {
  std::vector<BadInput> inputs;
  std::istringstream lines(base::read_file(ATHANOR_SOURCE_DIR "/tests/fixtures/deepspeed/bad_inputs.txt"));
  bool in_text = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("== ")) {
      inputs.push_back({.name = line.substr(3), .text = "", .problems = {}});
      in_text = true;
    } else if (line == "--") {
      in_text = false;
      inputs.back().text.pop_back();
    } else if (in_text) {
      inputs.back().text += line + "\n";
    } else if (!line.empty() && !line.starts_with("#")) {
      inputs.back().problems.push_back(read_problem(line));
    }
  }
  return inputs;
}

TEST(DeepSpeedBadInput, EachIsRefusedWithPlaceAndRemedy) {
  const std::vector<BadInput> inputs = read_bad_inputs();
  EXPECT_GE(inputs.size(), 60u);
  for (const BadInput& input : inputs) {
    const std::vector<base::Problem> problems = read_deepspeed_text(input.text, "ds.json").problems;
    EXPECT_EQ(problems.size(), input.problems.size()) << input.name;
    for (std::size_t i = 0; i < std::min(problems.size(), input.problems.size()); ++i) {
      const ExpectedProblem& expected = input.problems[i];
      EXPECT_EQ(problems[i].where, "ds.json:" + expected.place) << input.name << ": " << problems[i].what;
      EXPECT_NE(problems[i].what.find(expected.what), std::string::npos) << input.name << ": " << problems[i].what;
      EXPECT_NE(problems[i].remedy.find(expected.remedy), std::string::npos)
          << input.name << ": " << problems[i].remedy;
    }
  }
}

TEST(DeepSpeedBadInput, MissingFileAndFolderAreNamed) {
  const DeepSpeedReading missing = read_deepspeed("/nonexistent/ds.json");
  ASSERT_EQ(missing.problems.size(), 1u);
  EXPECT_EQ(missing.problems[0].where, "/nonexistent/ds.json");
  EXPECT_NE(missing.problems[0].remedy.find("base64"), std::string::npos);
  const DeepSpeedReading folder = read_deepspeed("/tmp");
  ASSERT_EQ(folder.problems.size(), 1u);
  EXPECT_EQ(folder.problems[0].where, "/tmp");
}

}  // namespace
}  // namespace athanor::config
