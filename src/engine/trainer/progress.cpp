#include "engine/trainer/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "core/base/file.h"

namespace athanor::trainer {

namespace {

// Steps that the speed is taken over: long enough to be steady, short enough to show a change.
constexpr std::size_t kWindow = 20;

// A line "VmRSS:   1234 kB" of /proc/self/status.
std::int64_t status_bytes(std::string_view key) {
  const std::string status = base::read_file("/proc/self/status");
  const std::size_t at = status.find(key);
  if (at == std::string::npos) return 0;
  return std::strtoll(status.c_str() + at + key.size(), nullptr, 10) * 1024;
}

}  // namespace

void Progress::step_done(std::int64_t num_tokens, base::Clock::time_point now) {
  ++step_;
  marks_.push_back({now, marks_.back().num_tokens + num_tokens});
  if (marks_.size() > kWindow + 1) marks_.pop_front();
}

void Progress::pause_ended(base::Seconds pause) {
  for (Mark& mark : marks_) mark.time += std::chrono::duration_cast<base::Clock::duration>(pause);
}

double Progress::tokens_per_second() const {
  const double seconds = base::Seconds(marks_.back().time - marks_.front().time).count();
  const double tokens = static_cast<double>(marks_.back().num_tokens - marks_.front().num_tokens);
  return seconds > 0.0 ? tokens / seconds : 0.0;
}

base::Seconds Progress::time_left() const {
  if (marks_.size() < 2) return base::Seconds(0.0);
  const base::Seconds window = marks_.back().time - marks_.front().time;
  return window / static_cast<double>(marks_.size() - 1) *
         static_cast<double>(std::max<std::int64_t>(max_steps_ - step_, 0));
}

std::string format_progress(const Progress& progress, const ShownStep& shown) {
  return fmt::format("step {}/{}  loss {:.4f}  lr {:.3g}  grad {:.3g}  {} tok/s  {}  left {}", progress.step(),
                     progress.max_steps(), shown.loss, shown.learning_rate, shown.gradient_norm,
                     with_separators(static_cast<std::int64_t>(progress.tokens_per_second())),
                     format_bytes(shown.memory_bytes), base::format_duration(progress.time_left()));
}

std::int64_t resident_bytes() { return status_bytes("VmRSS:"); }
std::int64_t peak_resident_bytes() { return status_bytes("VmHWM:"); }

std::string with_separators(std::int64_t number) {
  std::string digits = fmt::format("{}", number);
  const std::int64_t first = digits[0] == '-' ? 1 : 0;
  for (std::int64_t at = static_cast<std::int64_t>(digits.size()) - 3; at > first; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return digits;
}

std::string format_bytes(std::int64_t num_bytes) {
  const double bytes = static_cast<double>(num_bytes);
  if (bytes < 1e6) return fmt::format("{:.0f} kB", bytes / 1e3);
  if (bytes < 1e9) return fmt::format("{:.0f} MB", bytes / 1e6);
  return fmt::format("{:.1f} GB", bytes / 1e9);
}

}  // namespace athanor::trainer
