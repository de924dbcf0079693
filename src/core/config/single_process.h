// Training runs in one process: what says that more were asked for or started. Programs pass the environment; both of them ask, since a
// launcher may start either.
//
// Threads: pure.
#pragma once

#include <functional>
#include <vector>

#include "core/base/error.h"
#include "core/config/resolution.h"

namespace athanor::config {

// Looks up a variable: its value, or nullptr.
using EnvironmentLookup = std::function<const char*(const char*)>;

// A launcher started several copies (torchrun, deepspeed, accelerate, mpirun, srun), and each would train alone.
std::vector<base::Problem> problems_of_launch(const EnvironmentLookup& variable);
// nproc_per_node asks for several.
std::vector<base::Problem> problems_of_world_size(const Resolution& resolution);

}  // namespace athanor::config
