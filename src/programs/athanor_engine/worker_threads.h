// The loop that core libraries are given to work in parallel (base/parallel.h): plain threads that take the next index in turn.
#pragma once

#include "core/base/parallel.h"

namespace athanor::engine_program {

base::ParallelFor parallel_for_on(int num_threads);

}  // namespace athanor::engine_program
