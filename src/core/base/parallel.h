// How core does things in parallel without opening threads itself: the caller hands in the loop.
#pragma once

#include <cstddef>
#include <functional>

namespace athanor::base {

// Calls body(i) for every i in [0, n), in any order, possibly at the same time; returns when all are done. The first exception
// thrown by a body is rethrown.
using ParallelFor = std::function<void(std::size_t n, const std::function<void(std::size_t)>& body)>;

// The trivial one: in order, on the calling thread.
inline void serial_for(std::size_t n, const std::function<void(std::size_t)>& body) {
  for (std::size_t i = 0; i < n; ++i) body(i);
}

}  // namespace athanor::base
