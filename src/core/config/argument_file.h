// The run file behind read_arguments(): YAML or JSON into arguments with their places.
#pragma once

#include <string>
#include <vector>

#include "core/config/arguments.h"

namespace athanor::config::detail {

// Names are as written; every problem is appended.
std::vector<Argument> read_run_file(const std::string& path, std::vector<base::Problem>& problems);

}  // namespace athanor::config::detail
