// Causal self-attention of whole sequences laid end to end: each token sees itself and the tokens before it in its own sequence,
// and never another sequence. Scores exist one block at a time only.
//
// Source:  Dao 2023, "FlashAttention-2", algorithms 1 and 2; grouped queries: Ainslie et al. 2023 (query head h uses key head
//          h / (N / K), as transformers' repeat_kv).
// Shapes:  T tokens, N query heads, K key and value heads, D head size. qkv [T, (N + 2 K) D]: queries, keys, values side by side,
//          already rotated. out [T, N D]. logsumexp [N, T] fp32: of the scaled scores, for the backward pass.
//          sequence_starts as in data/micro_batch.h.
// Types:   the compute type; scores, softmax and sums in fp32.
// Kernels: fp32 and bf16 on a CPU with a block matrix multiply (block_matmul.h): our blocked kernel. Else ATen's fused kernels,
//          one call for each run of sequences of equal length (CPU, fp32 on CUDA) or one for all (16-bit on CUDA). 16-bit types
//          that the processor does not multiply are widened first (product_type.h).
// Threads: one (sequence, head) at a time each; bits do not depend on their number.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

namespace athanor::ops {

struct AttentionShape {
  std::int64_t num_heads = 0;     // N
  std::int64_t num_kv_heads = 0;  // K, divides N
  std::int64_t head_dim = 0;      // D
  double scale = 1.0;             // of the scores, head_dim^-1/2
};

void attention_forward(const at::Tensor& qkv_TQ, std::span<const std::int32_t> sequence_starts,
                       const AttentionShape& shape, const at::Tensor& out_TA, const at::Tensor& logsumexp_NT);

// qkv_gradient is overwritten as a whole.
void attention_backward(const at::Tensor& out_gradient_TA, const at::Tensor& qkv_TQ, const at::Tensor& out_TA,
                        const at::Tensor& logsumexp_NT, std::span<const std::int32_t> sequence_starts,
                        const AttentionShape& shape, const at::Tensor& qkv_gradient_TQ);

// One new query against the keys and values of a sequence so far. q [1, N D], k and v [tokens, K, D], out [1, N D].
void attention_decode(const at::Tensor& q_1A, const at::Tensor& k_TKD, const at::Tensor& v_TKD,
                      const AttentionShape& shape, const at::Tensor& out_1A);

namespace detail {
// Through ATen's fused kernels, on any device.
void attention_forward_aten(const at::Tensor& qkv_TQ, std::span<const std::int32_t> sequence_starts,
                            const AttentionShape& shape, const at::Tensor& out_TA, const at::Tensor& logsumexp_NT);
void attention_backward_aten(const at::Tensor& out_gradient_TA, const at::Tensor& qkv_TQ, const at::Tensor& out_TA,
                             const at::Tensor& logsumexp_NT, std::span<const std::int32_t> sequence_starts,
                             const AttentionShape& shape, const at::Tensor& qkv_gradient_TQ);
}  // namespace detail

}  // namespace athanor::ops
