// Puts a gradient into a buffer of the store: fp32 or the compute type, replacing what is there or adding to it.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/ops/gradient_mode.h"

namespace athanor::ops {

// `target` (contiguous) gets `value` of the same shape and any floating type; the sum is taken in fp32 and rounded once.
void write_gradient(const at::Tensor& value, GradientMode mode, const at::Tensor& target);

}  // namespace athanor::ops
