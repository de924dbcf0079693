// Rotary position embedding on the queries and keys inside a joined q|k|v tensor, in place.
//
// Source:  Su et al. 2021, in transformers' half-rotated layout: elements i and i + D/2 of a head form a pair.
// Shapes:  T tokens, N + K query and key heads, D head size, P positions. qkv [T, (N + 2 K) D] in the compute type: N query heads,
//          K key heads, K value heads. Tables cos, sin [P, D/2] fp32; positions [T] int32, each < P.
// Types:   angles and arithmetic in fp32, rounded once on store (transformers rounds cos and sin to the compute type first).
// Threads: splits rows over ATen's threads.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

namespace athanor::ops {

struct RopeTable {
  at::Tensor cos_PF;  // F = D / 2
  at::Tensor sin_PF;
};

// cos and sin of position x inverse_frequencies[i], both times `attention_scaling`, on `device`.
RopeTable make_rope_table(std::span<const float> inverse_frequencies, double attention_scaling,
                          std::int64_t num_positions, at::Device device);

enum class Rotation {
  kForward,
  kBackward,  // the transposed matrix: takes the gradient of the rotated heads to that of the plain ones
};

// `num_heads` heads from the start of every row are rotated: N + K.
void rotate_heads(const at::Tensor& qkv_TQ, std::int64_t num_heads, std::int64_t head_dim, const RopeTable& table,
                  const at::Tensor& positions_T, Rotation rotation);

namespace detail {
// The same through ATen operators, on any device.
void rotate_heads_aten(const at::Tensor& qkv_TQ, std::int64_t num_heads, std::int64_t head_dim, const RopeTable& table,
                       const at::Tensor& positions_T, Rotation rotation);
}  // namespace detail

}  // namespace athanor::ops
