// The loop that core's parallel work runs in: threads of this program.
#pragma once

#include <cstddef>

#include "core/base/parallel.h"

namespace athanor::command {

// 0 workers: as many as the processors this process may use.
base::ParallelFor make_thread_loop(std::size_t num_workers);

}  // namespace athanor::command
