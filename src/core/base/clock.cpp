#include "core/base/clock.h"

#include <fmt/format.h>

#include <cmath>
#include <ctime>

namespace athanor::base {

double wall_time_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string utc_timestamp(double unix_seconds) {
  const auto whole = static_cast<std::time_t>(unix_seconds);
  std::tm parts{};
  gmtime_r(&whole, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string format_duration(Seconds duration) {
  const auto total = static_cast<long long>(std::llround(duration.count() < 0 ? 0.0 : duration.count()));
  const long long hours = total / 3600;
  const long long minutes = total / 60 % 60;
  const long long seconds = total % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, seconds);
  return fmt::format("{}:{:02}", minutes, seconds);
}

}  // namespace athanor::base
