// Root-mean-square normalisation, alone or together with the residual addition in front of it.
//
// Source:  Zhang & Sennrich 2019, equation 4; agrees with transformers' LlamaRMSNorm.
// Shapes:  T tokens, H hidden. x, delta, sum, y [T, H] and weight [H] in the compute type; rstd [T] fp32 = 1 / sqrt(mean x^2 + eps).
// Types:   statistics, products and gradients in fp32, rounded once on store. The statistics are of the rounded sum, so that
//          recomputing from a stored sum gives the same bits.
// Threads: splits rows over ATen's threads; bits do not depend on their number.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/ops/gradient_mode.h"

namespace athanor::ops {

// y = x * rstd * weight.
void rms_norm_forward(const at::Tensor& x_TH, const at::Tensor& weight_H, double eps, const at::Tensor& y_TH,
                      const at::Tensor& rstd_T);

// sum = x + delta; y = sum * rstd * weight. `sum` may be `x` or `delta`.
void add_rms_norm_forward(const at::Tensor& x_TH, const at::Tensor& delta_TH, const at::Tensor& weight_H, double eps,
                          const at::Tensor& sum_TH, const at::Tensor& y_TH, const at::Tensor& rstd_T);

// Gradient through y and through the residual stream beside it: residual_gradient (in: d loss / d sum from elsewhere) gets
// the norm's share added. `y_gradient` is read and then replaced by y itself, which the weight gradient of the following
// matrix multiply needs. weight_gradient: fp32 or the compute type.
void rms_norm_backward(const at::Tensor& y_gradient_TH, const at::Tensor& x_TH, const at::Tensor& rstd_T,
                       const at::Tensor& weight_H, const at::Tensor& residual_gradient_TH, GradientMode mode,
                       const at::Tensor& weight_gradient_H);

namespace detail {
// The same through ATen operators, on any device.
void rms_norm_forward_aten(const at::Tensor& x_TH, const at::Tensor& weight_H, double eps, const at::Tensor& y_TH,
                           const at::Tensor& rstd_T);
void rms_norm_backward_aten(const at::Tensor& y_gradient_TH, const at::Tensor& x_TH, const at::Tensor& rstd_T,
                            const at::Tensor& weight_H, const at::Tensor& residual_gradient_TH, GradientMode mode,
                            const at::Tensor& weight_gradient_H);
}  // namespace detail

}  // namespace athanor::ops
