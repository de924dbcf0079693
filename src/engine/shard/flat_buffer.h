// Memory for a flat buffer: zeroed, aligned, and in huge pages where the kernel grants them, which saves most of the page faults
// of the first step and the address translation of every later one.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace athanor::shard {

// [num_elements] zeros. Fails: EnvironmentError when there is not enough memory.
at::Tensor allocate_flat(std::int64_t num_elements, at::ScalarType type, at::Device device);

}  // namespace athanor::shard
