// Which types the processor multiplies.
//
// Note [Products without hardware]
// Where a processor multiplies no bf16 or fp16 matrices, libtorch runs 16-bit products as scalar loops, 5 to 20 times slower than fp32
// ones. There the operands are widened, multiplied in fp32 and the result is rounded once: what the hardware would do, with no less
// precision. Weights and activations keep their 16 bits; a few megabytes of work memory come on top.
#pragma once

#include <ATen/core/Tensor.h>

namespace athanor::ops {

// Whether products of this tensor are to be made in fp32, see Note [Products without hardware].
bool wants_wide_products(const at::Tensor& x);

}  // namespace athanor::ops
