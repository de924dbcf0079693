// Calls a generic lambda with the C++ type of a tensor's elements: fp32, bf16 or fp16, the compute types.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/base/error.h"

namespace athanor::ops {

// visit(T{}) for the T of `type`. Fails: Bug on another type.
template <typename Visit>
void with_element_type(at::ScalarType type, const Visit& visit) {
  switch (type) {
    case at::kFloat:
      return visit(float{});
    case at::kBFloat16:
      return visit(at::BFloat16{});
    case at::kHalf:
      return visit(at::Half{});
    default:
      ATHANOR_CHECK(false, "not a compute type");
  }
}

}  // namespace athanor::ops
