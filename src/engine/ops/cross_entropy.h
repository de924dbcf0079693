// The loss from hidden states: output projection, softmax cross-entropy and their gradients together, a few rows at a time, so
// that the logits of a micro-batch never exist as a whole.
//
// Source:  cross-entropy of softmax(n W^T) as torch.nn.functional.cross_entropy(reduction="sum"); fused as in Liger Kernel's
//          published formulation: the gradient of the logits takes the logits' place.
// Shapes:  R rows with a target, H hidden, V vocabulary. hidden [R, H] and weight [V, H] in the compute type; targets [R] int32; a row whose
//          target is negative has no loss and a gradient of zero.
// Types:   logits in the compute type, softmax and loss in fp32; weight gradient in fp32 or the compute type.
// Cost:    work memory of one part: kLogitsBytes, or kMinimumRows rows where that is more.
// Threads: rows over ATen's threads; bits do not depend on their number beyond the matrix multiply's.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "engine/ops/gradient_mode.h"

namespace athanor::ops {

struct LossGradients {
  at::Tensor hidden_RH;  // overwritten; may be the hidden states themselves
  at::Tensor weight_VH;
  GradientMode weight_mode = GradientMode::kOverwrite;
  double loss_weight = 1.0;  // gradients are of loss x loss_weight
};

// Rows that are worked on at a time.
std::int64_t loss_rows_at_a_time(std::int64_t num_rows, std::int64_t vocabulary, std::int64_t element_bytes);

// Sum of the losses of all rows; writes the gradients. `logits` [at least loss_rows_at_a_time, V] is work memory.
double linear_cross_entropy(const at::Tensor& hidden_RH, const at::Tensor& weight_VH, const at::Tensor& targets_R,
                            const at::Tensor& logits_CV, const LossGradients& gradients);

// The loss alone.
double linear_cross_entropy(const at::Tensor& hidden_RH, const at::Tensor& weight_VH, const at::Tensor& targets_R,
                            const at::Tensor& logits_CV);

namespace detail {
// Losses [C] fp32 of rows of logits; the logits are replaced by the gradient of loss x loss_weight.
void cross_entropy_rows(const at::Tensor& logits_CV, const at::Tensor& targets_C, double loss_weight,
                        const at::Tensor& losses_C);
// The same through ATen operators, on any device.
void cross_entropy_rows_aten(const at::Tensor& logits_CV, const at::Tensor& targets_C, double loss_weight,
                             const at::Tensor& losses_C);
}  // namespace detail

}  // namespace athanor::ops
