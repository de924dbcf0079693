// The blocked attention kernel for CPUs: what attention.h says, on block matrix multiplies (block_matmul.h).
//
// Source:  Dao 2023, "FlashAttention-2". The backward works on transposed score blocks (keys down, queries across), so that every
//          operand of its five products is either a plain or an interleaved block and nothing is transposed inside the loop.
// Shapes, types: attention.h; T = float or at::BFloat16.
// Memory:  per thread, kept between calls: one head of one sequence (keys, values, their gradients) and a few blocks.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "engine/ops/attention.h"

namespace athanor::ops::detail {

// Whether these kernels serve this type on this processor.
bool attention_blocked_works(at::ScalarType type);

void attention_forward_blocked(const at::Tensor& qkv_TQ, std::span<const std::int32_t> sequence_starts,
                               const AttentionShape& shape, const at::Tensor& out_TA, const at::Tensor& logsumexp_NT);

void attention_backward_blocked(const at::Tensor& out_gradient_TA, const at::Tensor& qkv_TQ, const at::Tensor& out_TA,
                                const at::Tensor& logsumexp_NT, std::span<const std::int32_t> sequence_starts,
                                const AttentionShape& shape, const at::Tensor& qkv_gradient_TQ);

}  // namespace athanor::ops::detail
