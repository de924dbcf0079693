// T tokens, Q columns of q|k|v, N rotated heads, D head size, F = D / 2, P positions.
#include "engine/ops/rope.h"

#include <ATen/Parallel.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mul.h>

#include <cmath>

#include "engine/ops/element_type.h"
#include "engine/ops/lanes.h"

namespace athanor::ops {
namespace {

template <typename T>
ATHANOR_VECTOR_CLONES void rotate_head(T* head, const float* cos, const float* sin, float direction,
                                       std::int64_t half) {
  T* first = head;
  T* second = head + half;
#pragma omp simd
  for (std::int64_t i = 0; i < half; ++i) {
    const float a = lanes::to_float(first[i]);
    const float b = lanes::to_float(second[i]);
    const float s = sin[i] * direction;
    first[i] = lanes::from_float<T>(a * cos[i] - b * s);
    second[i] = lanes::from_float<T>(b * cos[i] + a * s);
  }
}

}  // namespace

RopeTable make_rope_table(std::span<const float> inverse_frequencies, double attention_scaling,
                          std::int64_t num_positions, at::Device device) {
  const auto half = static_cast<std::int64_t>(inverse_frequencies.size());
  const at::Tensor cos_PF = at::empty({num_positions, half}, at::kFloat);
  const at::Tensor sin_PF = at::empty({num_positions, half}, at::kFloat);
  float* cos = cos_PF.data_ptr<float>();
  float* sin = sin_PF.data_ptr<float>();
  const auto scaling = static_cast<float>(attention_scaling);
  at::parallel_for(0, num_positions, 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) {
      for (std::int64_t i = 0; i < half; ++i) {
        const float angle = static_cast<float>(p) * inverse_frequencies[static_cast<std::size_t>(i)];
        cos[p * half + i] = std::cos(angle) * scaling;
        sin[p * half + i] = std::sin(angle) * scaling;
      }
    }
  });
  return {cos_PF.to(device), sin_PF.to(device)};
}

void rotate_heads(const at::Tensor& qkv_TQ, std::int64_t num_heads, std::int64_t head_dim, const RopeTable& table,
                  const at::Tensor& positions_T, Rotation rotation) {
  if (!qkv_TQ.is_cpu()) return detail::rotate_heads_aten(qkv_TQ, num_heads, head_dim, table, positions_T, rotation);
  const std::int64_t half = head_dim / 2;
  const std::int64_t row = qkv_TQ.size(1);
  const float* cos = table.cos_PF.data_ptr<float>();
  const float* sin = table.sin_PF.data_ptr<float>();
  const std::int32_t* positions = positions_T.data_ptr<std::int32_t>();
  const float direction = rotation == Rotation::kForward ? 1.0F : -1.0F;
  with_element_type(qkv_TQ.scalar_type(), [&](auto type) {
    using T = decltype(type);
    T* qkv = qkv_TQ.data_ptr<T>();
    at::parallel_for(0, qkv_TQ.size(0), 8, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t t = begin; t < end; ++t) {
        const std::int64_t angle = positions[t] * half;
        for (std::int64_t h = 0; h < num_heads; ++h) {
          rotate_head(qkv + t * row + h * head_dim, cos + angle, sin + angle, direction, half);
        }
      }
    });
  });
}

namespace detail {

void rotate_heads_aten(const at::Tensor& qkv_TQ, std::int64_t num_heads, std::int64_t head_dim, const RopeTable& table,
                       const at::Tensor& positions_T, Rotation rotation) {
  const std::int64_t half = head_dim / 2;
  const at::Tensor heads_TND = qkv_TQ.narrow(1, 0, num_heads * head_dim).view({-1, num_heads, head_dim});
  const at::Tensor cos_T1F = table.cos_PF.index_select(0, positions_T).unsqueeze(1);
  const at::Tensor sin_T1F =
      at::mul(table.sin_PF.index_select(0, positions_T), rotation == Rotation::kForward ? 1.0 : -1.0).unsqueeze(1);
  const at::Tensor first_TNF = heads_TND.narrow(2, 0, half).to(at::kFloat);
  const at::Tensor second_TNF = heads_TND.narrow(2, half, half).to(at::kFloat);
  const at::Tensor rotated_TNF = at::add(at::mul(first_TNF, cos_T1F), at::mul(second_TNF, sin_T1F), -1.0);
  heads_TND.narrow(2, half, half).copy_(at::add(at::mul(second_TNF, cos_T1F), at::mul(first_TNF, sin_T1F)));
  heads_TND.narrow(2, 0, half).copy_(rotated_TNF);
}

}  // namespace detail
}  // namespace athanor::ops
