#include "engine/ops/gradient_write.h"

#include <ATen/ops/add.h>

namespace athanor::ops {

void write_gradient(const at::Tensor& value, GradientMode mode, const at::Tensor& target) {
  if (mode == GradientMode::kOverwrite) {
    target.copy_(value);
  } else if (target.scalar_type() == at::kFloat) {
    target.add_(value);
  } else {
    target.copy_(at::add(target.to(at::kFloat), value));
  }
}

}  // namespace athanor::ops
