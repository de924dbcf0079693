// Attention on CUDA in 16 bits: one call of ATen's FlashAttention kernel for all sequences, told apart by their starts.
//
// Source:  Dao 2023, "FlashAttention-2", variable-length form. Shapes, types: attention.h; grouped queries inside the kernel.
// Threads: confined to the training thread; the work is queued on the current CUDA stream.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "engine/ops/attention.h"

namespace athanor::ops::detail {

void attention_forward_varlen(const at::Tensor& qkv_TQ, std::span<const std::int32_t> sequence_starts,
                              const AttentionShape& shape, const at::Tensor& out_TA, const at::Tensor& logsumexp_NT);

void attention_backward_varlen(const at::Tensor& out_gradient_TA, const at::Tensor& qkv_TQ, const at::Tensor& out_TA,
                               const at::Tensor& logsumexp_NT, std::span<const std::int32_t> sequence_starts,
                               const AttentionShape& shape, const at::Tensor& qkv_gradient_TQ);

}  // namespace athanor::ops::detail
