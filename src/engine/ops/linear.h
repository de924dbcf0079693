// Matrix multiplies of a linear layer with weight [O, I]: forward, input gradient, weight gradient, bias gradient.
//
// Source:  y = x W^T + b, torch.nn.functional.linear.
// Shapes:  T tokens, I in, O out. x [T, I], y [T, O], weight [O, I], bias [O]; rows may be strided (a slice of columns).
// Types:   operands in the compute type, fp32 accumulation; weight and bias gradients in fp32 or the compute type.
// Threads: inside the matrix multiply.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/ops/gradient_mode.h"

namespace athanor::ops {

// An undefined bias is none.
void linear_forward(const at::Tensor& x_TI, const at::Tensor& weight_OI, const at::Tensor& bias_O,
                    const at::Tensor& y_TO);

// x_gradient = y_gradient W, or is added to it.
void linear_backward_input(const at::Tensor& y_gradient_TO, const at::Tensor& weight_OI, GradientMode mode,
                           const at::Tensor& x_gradient_TI);

// weight_gradient = y_gradient^T x, or is added to it.
void linear_backward_weight(const at::Tensor& y_gradient_TO, const at::Tensor& x_TI, GradientMode mode,
                            const at::Tensor& weight_gradient_OI);

// bias_gradient = sum of y_gradient over the tokens, in fp32, or is added to it.
void linear_backward_bias(const at::Tensor& y_gradient_TO, GradientMode mode, const at::Tensor& bias_gradient_O);

}  // namespace athanor::ops
