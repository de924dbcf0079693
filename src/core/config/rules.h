// The rules that concern more than one setting, each with an id that its message begins with (docs/reference/config_rules.md).
//
// Threads: pure.
#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/config/run_config.h"

namespace athanor::config {

struct Rule {
  const char* id;       // "C001"
  const char* summary;  // what must hold
  void (*check)(const RunConfig& config, std::vector<base::Problem>& problems);
};

const std::vector<Rule>& rules();
// Applies every rule; problems are appended.
void check_rules(const RunConfig& config, std::vector<base::Problem>& problems);

}  // namespace athanor::config
