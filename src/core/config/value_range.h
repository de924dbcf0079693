// The ranges of the field table: "a|b|c", or comparisons joined by "and" (">= 0 and < 1"). Internal to the arguments.
#pragma once

#include <string>
#include <vector>

namespace athanor::config::detail {

// True when every comparison in `range` holds; texts that are no comparison hold always.
bool range_holds(const std::string& range, double value);
std::vector<std::string> choices_of(const std::string& range);

}  // namespace athanor::config::detail
