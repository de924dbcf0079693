// Time, as durations; the only place that sleeps.
#pragma once

#include <chrono>
#include <string>

namespace athanor::base {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// Seconds since the Unix epoch.
double wall_time_seconds();
// "2026-12-01T14:02:03Z".
std::string utc_timestamp(double unix_seconds);
// "1:02:03" or "2:03" for a person.
std::string format_duration(Seconds duration);

}  // namespace athanor::base
