#include "core/base/fault_point.h"

#include <errno.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <string>

#include "core/base/error.h"

namespace athanor::base {

namespace {

constexpr std::array kNames = {
    "checkpoint_begin",
    "checkpoint_mid_write",
    "checkpoint_before_manifest",
    "checkpoint_before_rename",
    "checkpoint_after_rename",
    "cache_mid_write",
    "cache_before_commit",
    "step_begin",
    "step_end",
    "trainer_state_before_write",
};
constexpr std::array kActions = {"kill", "throw", "enospc", "stop"};

// The one piece of process-wide state in core: written once before any thread exists, read by fault_point().
struct Armed {
  int point = -1;
  int action = 0;
  std::atomic<long> passes_left{0};
};
Armed armed;

template <typename Table>
int index_of(const Table& table, std::string_view name) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (name == table[i]) return static_cast<int>(i);
  }
  return -1;
}

template <typename Table>
std::string list_of(const Table& table) {
  return fmt::format("{}", fmt::join(table, ", "));
}

}  // namespace

const char* fault_point_name(FaultPoint point) { return kNames[static_cast<std::size_t>(point)]; }

void arm_fault_points(std::string_view specification) {
  armed.point = -1;
  if (specification.empty()) return;
  const std::string where = fmt::format("ATHANOR_FAULT={}", specification);
  const std::size_t equals = specification.find('=');
  std::string_view name = specification.substr(0, equals);
  const std::string_view action = equals == std::string_view::npos ? "kill" : specification.substr(equals + 1);
  long nth = 1;
  if (const std::size_t colon = name.find(':'); colon != std::string_view::npos) {
    const std::string_view count = name.substr(colon + 1);
    const auto parsed = std::from_chars(count.data(), count.data() + count.size(), nth);
    if (parsed.ec != std::errc() || parsed.ptr != count.data() + count.size() || nth < 1) {
      throw UserError("the count after ':' must be a whole number from 1", where, "write name:nth=action");
    }
    name = name.substr(0, colon);
  }
  const int point = index_of(kNames, name);
  const int action_index = index_of(kActions, action);
  if (point < 0) throw UserError("unknown fault point", where, "use one of " + list_of(kNames));
  if (action_index < 0) throw UserError("unknown fault action", where, "use one of " + list_of(kActions));
  armed.point = point;
  armed.action = action_index;
  armed.passes_left = nth;
  fmt::print(stderr, "athanor: fault point {} is armed: {} at pass {}\n", name, action, nth);
}

void fault_point(FaultPoint point) {
  if (static_cast<int>(point) != armed.point) return;
  if (armed.passes_left.fetch_sub(1) != 1) return;
  fmt::print(stderr, "athanor: fault point {} fired\n", fault_point_name(point));
  std::fflush(stderr);
  switch (armed.action) {
    case 0:
      ::kill(::getpid(), SIGKILL);
      break;
    case 1:
      throw EnvironmentError("a fault was injected here", fault_point_name(point), "unset ATHANOR_FAULT");
    case 2:
      throw EnvironmentError("the disk is full", fault_point_name(point), "unset ATHANOR_FAULT", ENOSPC);
    default:
      ::kill(::getpid(), SIGSTOP);
  }
}

}  // namespace athanor::base
