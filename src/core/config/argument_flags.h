// The command line behind read_arguments(): words into arguments, and the name of the run file.
#pragma once

#include <string>
#include <vector>

#include "core/config/arguments.h"

namespace athanor::config::detail {

// Names are as written; problems are appended to `set`, and set.run_file is filled in.
std::vector<Argument> read_flags(const std::vector<std::string>& words, ArgumentSet& set);

}  // namespace athanor::config::detail
