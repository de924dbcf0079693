#include "core/config/value_range.h"

#include <sstream>

#include "core/config/number_text.h"

namespace athanor::config::detail {

namespace {

bool compare(const std::string& comparison, double value, double bound) {
  if (comparison == ">=") return value >= bound;
  if (comparison == ">") return value > bound;
  if (comparison == "<=") return value <= bound;
  return comparison != "<" || value < bound;
}

}  // namespace

bool range_holds(const std::string& range, double value) {
  std::istringstream words(range);
  std::string before;
  for (std::string word; words >> word; before = word) {
    const std::optional<double> bound = parse_number(word);
    if (bound.has_value() && !compare(before, value, *bound)) return false;
  }
  return true;
}

std::vector<std::string> choices_of(const std::string& range) {
  std::vector<std::string> choices;
  std::istringstream words(range);
  for (std::string word; std::getline(words, word, '|');) choices.push_back(word);
  return choices;
}

}  // namespace athanor::config::detail
