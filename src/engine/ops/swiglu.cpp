// T tokens, I intermediate, G = 2 I.
#include "engine/ops/swiglu.h"

#include <ATen/Parallel.h>
#include <ATen/ops/add.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>

#include "engine/ops/element_type.h"
#include "engine/ops/lanes.h"

namespace athanor::ops {
namespace {

template <typename T>
ATHANOR_VECTOR_CLONES void forward_row(const T* gate, const T* up, T* h, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float g = lanes::to_float(gate[i]);
    h[i] = lanes::from_float<T>(g / (1.0F + lanes::exp(-g)) * lanes::to_float(up[i]));
  }
}

template <typename T>
ATHANOR_VECTOR_CLONES void backward_row(T* h_gradient, T* gate, T* up, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const float g = lanes::to_float(gate[i]);
    const float u = lanes::to_float(up[i]);
    const float dh = lanes::to_float(h_gradient[i]);
    const float sigmoid = 1.0F / (1.0F + lanes::exp(-g));
    const float silu = g * sigmoid;
    gate[i] = lanes::from_float<T>(dh * u * (sigmoid + silu * (1.0F - sigmoid)));
    up[i] = lanes::from_float<T>(dh * silu);
    h_gradient[i] = lanes::from_float<T>(silu * u);
  }
}

}  // namespace

void swiglu_forward(const at::Tensor& gate_up_TG, const at::Tensor& h_TI) {
  if (!gate_up_TG.is_cpu()) return detail::swiglu_forward_aten(gate_up_TG, h_TI);
  const std::int64_t n = h_TI.size(1);
  with_element_type(h_TI.scalar_type(), [&](auto type) {
    using T = decltype(type);
    const T* gate_up = gate_up_TG.data_ptr<T>();
    T* h = h_TI.data_ptr<T>();
    at::parallel_for(0, h_TI.size(0), 4, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t t = begin; t < end; ++t)
        forward_row(gate_up + 2 * t * n, gate_up + (2 * t + 1) * n, h + t * n, n);
    });
  });
}

void swiglu_backward(const at::Tensor& h_gradient_TI, const at::Tensor& gate_up_TG) {
  if (!gate_up_TG.is_cpu()) return detail::swiglu_backward_aten(h_gradient_TI, gate_up_TG);
  const std::int64_t n = h_gradient_TI.size(1);
  with_element_type(gate_up_TG.scalar_type(), [&](auto type) {
    using T = decltype(type);
    T* gate_up = gate_up_TG.data_ptr<T>();
    T* h = h_gradient_TI.data_ptr<T>();
    at::parallel_for(0, h_gradient_TI.size(0), 4, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t t = begin; t < end; ++t)
        backward_row(h + t * n, gate_up + 2 * t * n, gate_up + (2 * t + 1) * n, n);
    });
  });
}

namespace detail {

void swiglu_forward_aten(const at::Tensor& gate_up_TG, const at::Tensor& h_TI) {
  const std::int64_t n = h_TI.size(1);
  const at::Tensor gate_TI = gate_up_TG.narrow(1, 0, n).to(at::kFloat);
  h_TI.copy_(at::mul(at::silu(gate_TI), gate_up_TG.narrow(1, n, n).to(at::kFloat)));
}

void swiglu_backward_aten(const at::Tensor& h_gradient_TI, const at::Tensor& gate_up_TG) {
  const std::int64_t n = h_gradient_TI.size(1);
  const at::Tensor gate_TI = gate_up_TG.narrow(1, 0, n).to(at::kFloat);
  const at::Tensor up_TI = gate_up_TG.narrow(1, n, n).to(at::kFloat);
  const at::Tensor gradient_TI = h_gradient_TI.to(at::kFloat);
  const at::Tensor sigmoid_TI = at::sigmoid(gate_TI);
  const at::Tensor silu_TI = at::mul(gate_TI, sigmoid_TI);
  const at::Tensor slope_TI = at::add(sigmoid_TI, at::mul(silu_TI, at::add(at::mul(sigmoid_TI, -1.0), 1.0)));
  const at::Tensor gate_gradient_TI = at::mul(at::mul(gradient_TI, up_TI), slope_TI);
  const at::Tensor up_gradient_TI = at::mul(gradient_TI, silu_TI);
  h_gradient_TI.copy_(at::mul(silu_TI, up_TI));
  gate_up_TG.narrow(1, 0, n).copy_(gate_gradient_TI);
  gate_up_TG.narrow(1, n, n).copy_(up_gradient_TI);
}

}  // namespace detail
}  // namespace athanor::ops
