// Ticks and labels for the axes of a drawing.
//
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace athanor::schedule {

// Round values (1, 2, 2.5 or 5 times a power of ten apart) from at or below `low` to at or above `high`, about `count` of them.
// Equal bounds are widened.
std::vector<double> round_ticks(double low, double high, int count);
// Whole, round numbers inside [0, last], about `count` of them, 0 included.
std::vector<std::int64_t> step_ticks(std::int64_t last, int count);

// "0", "2e-4", "2.5e-5", "0.01", "1": short, and never rounded beyond four digits.
std::string format_rate(double rate);
// "0", "950", "1,500", "20k", "1.5M".
std::string format_step(std::int64_t step);

}  // namespace athanor::schedule
