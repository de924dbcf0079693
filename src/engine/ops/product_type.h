// Which types the processor multiplies.
//
// Note [Products without hardware]
// Where a processor multiplies no bf16 or fp16 matrices, libtorch runs 16-bit products as scalar loops, 5 to 20 times slower than fp32
// ones; where it has bf16 dot products without AMX (Intel since Cooper Lake) they run at half of fp32's speed. There the operands are
// widened, multiplied in fp32 and the result is rounded once: what the hardware would do, with no less precision. Weights and
// activations keep their 16 bits; a few megabytes of work memory come on top. The choice depends on the processor alone and never on
// a measurement, so that two runs on one machine have the same bits.
#pragma once

#include <ATen/core/Tensor.h>

namespace athanor::ops {

// Whether products of this tensor are to be made in fp32, see Note [Products without hardware].
bool wants_wide_products(const at::Tensor& x);

}  // namespace athanor::ops
