// T tokens, N query heads, K key heads, D head size.
#include "engine/ops/attention_varlen.h"

#include <ATen/ops/_flash_attention_backward.h>
#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

namespace athanor::ops::detail {
namespace {

struct Sequences {
  at::Tensor starts;  // int32, on the device
  std::int64_t longest = 0;
};

Sequences move_starts(std::span<const std::int32_t> sequence_starts, at::Device device) {
  Sequences sequences;
  for (std::size_t s = 0; s + 1 < sequence_starts.size(); ++s) {
    sequences.longest = std::max<std::int64_t>(sequences.longest, sequence_starts[s + 1] - sequence_starts[s]);
  }
  auto* starts = const_cast<std::int32_t*>(sequence_starts.data());
  sequences.starts = at::from_blob(starts, {static_cast<std::int64_t>(sequence_starts.size())}, at::kInt).to(device);
  return sequences;
}

at::Tensor heads_of(const at::Tensor& x_TQ, std::int64_t first, std::int64_t heads, std::int64_t head_dim) {
  return x_TQ.narrow(1, first * head_dim, heads * head_dim).unflatten(1, {heads, head_dim});
}

}  // namespace

void attention_forward_varlen(const at::Tensor& qkv_TQ, std::span<const std::int32_t> sequence_starts,
                              const AttentionShape& shape, const at::Tensor& out_TA, const at::Tensor& logsumexp_NT) {
  const Sequences sequences = move_starts(sequence_starts, qkv_TQ.device());
  const std::int64_t n = shape.num_heads;
  const std::int64_t k = shape.num_kv_heads;
  const auto results =
      at::_flash_attention_forward(heads_of(qkv_TQ, 0, n, shape.head_dim), heads_of(qkv_TQ, n, k, shape.head_dim),
                                   heads_of(qkv_TQ, n + k, k, shape.head_dim), sequences.starts, sequences.starts,
                                   sequences.longest, sequences.longest, 0.0, true, false, shape.scale);
  out_TA.copy_(std::get<0>(results).flatten(1, 2));
  logsumexp_NT.copy_(std::get<1>(results));
}

void attention_backward_varlen(const at::Tensor& out_gradient_TA, const at::Tensor& qkv_TQ, const at::Tensor& out_TA,
                               const at::Tensor& logsumexp_NT, std::span<const std::int32_t> sequence_starts,
                               const AttentionShape& shape, const at::Tensor& qkv_gradient_TQ) {
  const Sequences sequences = move_starts(sequence_starts, qkv_TQ.device());
  const std::int64_t n = shape.num_heads;
  const std::int64_t k = shape.num_kv_heads;
  const std::int64_t d = shape.head_dim;
  const at::Tensor no_random = at::zeros({2}, qkv_TQ.options().dtype(at::kUInt64));
  const auto gradients = at::_flash_attention_backward(
      heads_of(out_gradient_TA, 0, n, d), heads_of(qkv_TQ, 0, n, d), heads_of(qkv_TQ, n, k, d),
      heads_of(qkv_TQ, n + k, k, d), heads_of(out_TA, 0, n, d), logsumexp_NT, sequences.starts, sequences.starts,
      sequences.longest, sequences.longest, 0.0, true, no_random, no_random, shape.scale);
  heads_of(qkv_gradient_TQ, 0, n, d).copy_(std::get<0>(gradients));
  heads_of(qkv_gradient_TQ, n, k, d).copy_(std::get<1>(gradients));
  heads_of(qkv_gradient_TQ, n + k, k, d).copy_(std::get<2>(gradients));
}

}  // namespace athanor::ops::detail
