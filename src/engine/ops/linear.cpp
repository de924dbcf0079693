// T tokens, I in, O out.
#include "engine/ops/linear.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/sum.h>

#include "engine/ops/gradient_write.h"

namespace athanor::ops {

void linear_forward(const at::Tensor& x_TI, const at::Tensor& weight_OI, const at::Tensor& bias_O,
                    const at::Tensor& y_TO) {
  at::Tensor out_TO = y_TO;
  if (bias_O.defined()) {
    at::addmm_out(out_TO, bias_O, x_TI, weight_OI.t());
  } else {
    at::mm_out(out_TO, x_TI, weight_OI.t());
  }
}

void linear_backward_input(const at::Tensor& y_gradient_TO, const at::Tensor& weight_OI, GradientMode mode,
                           const at::Tensor& x_gradient_TI) {
  at::Tensor out_TI = x_gradient_TI;
  if (mode == GradientMode::kAccumulate) {
    at::addmm_out(out_TI, out_TI, y_gradient_TO, weight_OI);
  } else {
    at::mm_out(out_TI, y_gradient_TO, weight_OI);
  }
}

void linear_backward_weight(const at::Tensor& y_gradient_TO, const at::Tensor& x_TI, GradientMode mode,
                            const at::Tensor& weight_gradient_OI) {
  at::Tensor out_OI = weight_gradient_OI;
  if (out_OI.scalar_type() != x_TI.scalar_type()) {
    write_gradient(at::mm(y_gradient_TO.t(), x_TI), mode, out_OI);
  } else if (mode == GradientMode::kAccumulate) {
    at::addmm_out(out_OI, out_OI, y_gradient_TO.t(), x_TI);
  } else {
    at::mm_out(out_OI, y_gradient_TO.t(), x_TI);
  }
}

void linear_backward_bias(const at::Tensor& y_gradient_TO, GradientMode mode, const at::Tensor& bias_gradient_O) {
  write_gradient(at::sum(y_gradient_TO, at::IntArrayRef{0}, false, at::kFloat), mode, bias_gradient_O);
}

}  // namespace athanor::ops
