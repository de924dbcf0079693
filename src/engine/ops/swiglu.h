// The gated activation of the MLP: h = silu(gate) * up.
//
// Source:  Shazeer 2020, "GLU variants improve transformer"; agrees with transformers' LlamaMLP.
// Shapes:  T tokens, I intermediate. gate_up [T, 2 I]: gate in the first I columns, up in the last. h [T, I].
// Types:   the compute type; arithmetic in fp32, rounded once on store.
// Threads: splits rows over ATen's threads.
#pragma once

#include <ATen/core/Tensor.h>

namespace athanor::ops {

void swiglu_forward(const at::Tensor& gate_up_TG, const at::Tensor& h_TI);

// Replaces gate_up by its gradient, and h_gradient by h itself, which the weight gradient of the matrix multiply behind needs.
void swiglu_backward(const at::Tensor& h_gradient_TI, const at::Tensor& gate_up_TG);

namespace detail {
// The same through ATen operators, on any device.
void swiglu_forward_aten(const at::Tensor& gate_up_TG, const at::Tensor& h_TI);
void swiglu_backward_aten(const at::Tensor& h_gradient_TI, const at::Tensor& gate_up_TG);
}  // namespace detail

}  // namespace athanor::ops
