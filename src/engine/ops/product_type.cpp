#include "engine/ops/product_type.h"

#include "engine/ops/processor.h"

namespace athanor::ops {

bool wants_wide_products(const at::Tensor& x) {
  if (!x.is_cpu() || x.scalar_type() == at::kFloat) return false;
  return x.scalar_type() == at::kBFloat16 ? !processor().faster_bf16 : !processor().knows_fp16;
}

}  // namespace athanor::ops
