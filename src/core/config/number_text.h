// Numbers as people write them in flags and run files, and back. Internal to the arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace athanor::config::detail {

// Python's spellings: 3, -1, 1e-5, 5E8, .5, 1_000, +2, with spaces around. Finite numbers only.
std::optional<double> parse_number(const std::string& text);
// The same, where it is whole and fits 64 bits without rounding; 5e8 and 3.0 are whole.
std::optional<std::int64_t> parse_whole_number(const std::string& text);

// The fewest digits that read back to the same bits; whole numbers without ".0".
std::string format_number(double value);

}  // namespace athanor::config::detail
