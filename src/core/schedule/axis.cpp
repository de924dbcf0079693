#include "core/schedule/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace athanor::schedule {
namespace {

// The smallest round number that is at least `rough` (> 0).
double round_up_spacing(double rough) {
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : std::array{1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= rough * (1 - 1e-9)) return factor * power;
  }
  return 10.0 * power;
}

// Four digits without a tail of zeros: "2.5", "3".
std::string short_number(double value) {
  std::string text = fmt::format("{:.3f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

std::vector<double> round_ticks(double low, double high, int count) {
  if (!(high > low)) {
    const double width = high == 0 ? 1.0 : std::abs(high) / 2;
    low -= width;
    high += width;
  }
  const double spacing = round_up_spacing((high - low) / std::max(1, count - 1));
  const double first = std::floor(low / spacing + 1e-9);
  const double last = std::ceil(high / spacing - 1e-9);
  std::vector<double> ticks;
  for (double i = first; i <= last; ++i) ticks.push_back(i * spacing);
  return ticks;
}

std::vector<std::int64_t> step_ticks(std::int64_t last, int count) {
  if (last <= 0) return {0};
  const double rough = std::max(1.0, static_cast<double>(last) / std::max(1, count));
  double spacing = round_up_spacing(rough);
  if (spacing != std::floor(spacing)) spacing = std::ceil(spacing);
  std::vector<std::int64_t> ticks;
  for (std::int64_t step = 0; step <= last; step += static_cast<std::int64_t>(spacing)) ticks.push_back(step);
  return ticks;
}

std::string format_rate(double rate) {
  if (rate == 0) return "0";
  if (!std::isfinite(rate)) return fmt::format("{}", rate);
  int exponent = static_cast<int>(std::floor(std::log10(std::abs(rate))));
  double mantissa = rate / std::pow(10.0, exponent);
  if (std::abs(mantissa) >= 9.9995) {
    mantissa /= 10;
    ++exponent;
  }
  if (exponent >= -2 && exponent <= 3) return fmt::format("{:.4g}", rate);
  return fmt::format("{}e{}", short_number(mantissa), exponent);
}

std::string format_step(std::int64_t step) {
  if (step >= 1'000'000) return short_number(static_cast<double>(step) / 1e6) + "M";
  if (step >= 10'000 && step % 100 == 0) return short_number(static_cast<double>(step) / 1e3) + "k";
  if (step >= 1'000) return fmt::format("{},{:03}", step / 1000, step % 1000);
  return fmt::format("{}", step);
}

}  // namespace athanor::schedule
