// What can be judged before the engine starts, so that a slip is answered in milliseconds.
#pragma once

#include <vector>

#include "core/base/error.h"
#include "core/config/run_config.h"

namespace athanor::command {

// The schedule's name and options, for the run's length or any length while that is not known. For a configuration without other
// problems.
std::vector<base::Problem> problems_of_schedule(const config::RunConfig& config);

// Model folder or configuration, and data files: that they are there and can be read.
std::vector<base::Problem> problems_of_files(const config::RunConfig& config);

}  // namespace athanor::command
