// Sum of squares in double, in a fixed order of additions.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>

namespace athanor::optim {

// `type` is fp32, bf16 or fp16. Not finite when any value is not.
double sum_of_squares(const void* values, at::ScalarType type, std::size_t n);

}  // namespace athanor::optim
