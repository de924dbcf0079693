// "key=value,key=value": config_overrides and optim_args. Internal to resolution.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/config/value_reader.h"

namespace athanor::config::detail {

// In the order written. Anything else is a problem, and gives nothing.
std::vector<std::pair<std::string, std::string>> read_pairs(ValueReader& read, const std::string& name);

}  // namespace athanor::config::detail
