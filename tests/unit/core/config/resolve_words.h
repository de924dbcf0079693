// Resolution of a command line in one call, as the tests of this folder want it.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "core/config/resolution.h"

namespace athanor::config {

// Words separated by blanks; a word with blanks needs the other form.
inline std::vector<std::string> split_words(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// What every run needs, so that a test names only what it is about.
inline std::vector<std::string> with_necessities(std::vector<std::string> words) {
  for (const char* word : {"--model_name_or_path", "model", "--train_file", "rows.jsonl", "--output_dir", "out"}) {
    words.emplace_back(word);
  }
  return words;
}

inline Resolution resolve_words(const std::string& line, const ResolveOptions& options = {}) {
  return resolve(read_arguments(with_necessities(split_words(line))), options);
}

inline std::string all_text(const Resolution& resolution) {
  std::string text;
  for (const base::Problem& problem : resolution.problems) text += base::format_problem(problem) + "\n";
  return text;
}

// A resolution without problems.
inline Resolution accept_words(const std::string& line, const ResolveOptions& options = {}) {
  Resolution resolution = resolve_words(line, options);
  EXPECT_TRUE(resolution.problems.empty()) << line << "\n" << all_text(resolution);
  return resolution;
}

inline ResolvedValue value_of(const Resolution& resolution, const std::string& name) {
  for (const ResolvedValue& value : resolution.values) {
    if (value.name == name) return value;
  }
  return {"no such value", "", "", ""};
}

inline std::string all_notes(const Resolution& resolution) {
  std::string text;
  for (const std::string& note : resolution.notes) text += note + "\n";
  return text;
}

}  // namespace athanor::config
