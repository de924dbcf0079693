// T tokens, H hidden, B blocks of rows.
#include "engine/ops/rms_norm.h"

#include <ATen/Parallel.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/rsqrt.h>

#include <cmath>

#include "engine/ops/element_type.h"
#include "engine/ops/gradient_write.h"
#include "engine/ops/lanes.h"

namespace athanor::ops {
namespace {

// Rows whose share of the weight gradient is summed by one thread: fixed, so that the order of the sum is.
constexpr std::int64_t kRowsPerBlock = 32;

template <typename T>
ATHANOR_VECTOR_CLONES float sum_of_squares(const T* x, std::int64_t n) {
  float sum = 0.0F;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) {
    const float value = lanes::to_float(x[i]);
    sum += value * value;
  }
  return sum;
}

template <typename T>
ATHANOR_VECTOR_CLONES void add_row(const T* x, const T* delta, T* sum, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) sum[i] = lanes::from_float<T>(lanes::to_float(x[i]) + lanes::to_float(delta[i]));
}

template <typename T>
ATHANOR_VECTOR_CLONES void scale_row(const T* x, const T* weight, float rstd, T* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    y[i] = lanes::from_float<T>(lanes::to_float(x[i]) * rstd * lanes::to_float(weight[i]));
  }
}

// Sum of y_gradient * weight * x_hat over the row; adds y_gradient * x_hat to the row's share of the weight gradient.
template <typename T>
ATHANOR_VECTOR_CLONES float backward_sums(const T* y_gradient, const T* x, const T* weight, float rstd,
                                          float* weight_gradient, std::int64_t n) {
  float sum = 0.0F;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) {
    const float product = lanes::to_float(y_gradient[i]) * (lanes::to_float(x[i]) * rstd);
    weight_gradient[i] += product;
    sum += product * lanes::to_float(weight[i]);
  }
  return sum;
}

template <typename T>
ATHANOR_VECTOR_CLONES void backward_row(T* y_gradient, const T* x, const T* weight, float rstd, float mean,
                                        T* residual_gradient, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const float x_hat = lanes::to_float(x[i]) * rstd;
    const float scale = lanes::to_float(weight[i]);
    const float gradient = rstd * (lanes::to_float(y_gradient[i]) * scale - x_hat * mean);
    residual_gradient[i] = lanes::from_float<T>(lanes::to_float(residual_gradient[i]) + gradient);
    y_gradient[i] = lanes::from_float<T>(x_hat * scale);
  }
}

template <typename T>
void forward_rows(const T* x, const T* delta, const T* weight, double eps, T* sum, T* y, float* rstd, std::int64_t rows,
                  std::int64_t hidden) {
  at::parallel_for(0, rows, 8, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t) {
      const std::int64_t offset = t * hidden;
      if (delta != nullptr) add_row(x + offset, delta + offset, sum + offset, hidden);
      const float mean = sum_of_squares(sum + offset, hidden) / static_cast<float>(hidden);
      rstd[t] = 1.0F / std::sqrt(mean + static_cast<float>(eps));
      scale_row(sum + offset, weight, rstd[t], y + offset, hidden);
    }
  });
}

template <typename T>
void backward_rows(T* y_gradient, const T* x, const float* rstd, const T* weight, T* residual_gradient, float* partial,
                   std::int64_t rows, std::int64_t hidden) {
  const std::int64_t blocks = at::divup(rows, kRowsPerBlock);
  at::parallel_for(0, blocks, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b) {
      float* share = partial + b * hidden;
      std::fill(share, share + hidden, 0.0F);
      const std::int64_t last = std::min(rows, (b + 1) * kRowsPerBlock);
      for (std::int64_t t = b * kRowsPerBlock; t < last; ++t) {
        const std::int64_t offset = t * hidden;
        const float sum = backward_sums(y_gradient + offset, x + offset, weight, rstd[t], share, hidden);
        backward_row(y_gradient + offset, x + offset, weight, rstd[t], sum / static_cast<float>(hidden),
                     residual_gradient + offset, hidden);
      }
    }
  });
}

template <typename T>
ATHANOR_VECTOR_CLONES void sum_blocks(const float* partial_BH, std::int64_t blocks, std::int64_t hidden,
                                      bool accumulate, T* out) {
  for (std::int64_t i = 0; i < hidden; ++i) {
    float sum = accumulate ? lanes::to_float(out[i]) : 0.0F;
    for (std::int64_t b = 0; b < blocks; ++b) sum += partial_BH[b * hidden + i];
    out[i] = lanes::from_float<T>(sum);
  }
}

}  // namespace

void rms_norm_forward(const at::Tensor& x_TH, const at::Tensor& weight_H, double eps, const at::Tensor& y_TH,
                      const at::Tensor& rstd_T) {
  if (!x_TH.is_cpu()) return detail::rms_norm_forward_aten(x_TH, weight_H, eps, y_TH, rstd_T);
  with_element_type(x_TH.scalar_type(), [&](auto type) {
    using T = decltype(type);
    T* x = x_TH.data_ptr<T>();
    forward_rows<T>(x, nullptr, weight_H.data_ptr<T>(), eps, x, y_TH.data_ptr<T>(), rstd_T.data_ptr<float>(),
                    x_TH.size(0), x_TH.size(1));
  });
}

void add_rms_norm_forward(const at::Tensor& x_TH, const at::Tensor& delta_TH, const at::Tensor& weight_H, double eps,
                          const at::Tensor& sum_TH, const at::Tensor& y_TH, const at::Tensor& rstd_T) {
  if (!x_TH.is_cpu()) {
    at::Tensor sum = sum_TH;
    at::add_out(sum, x_TH, delta_TH);
    return detail::rms_norm_forward_aten(sum_TH, weight_H, eps, y_TH, rstd_T);
  }
  with_element_type(x_TH.scalar_type(), [&](auto type) {
    using T = decltype(type);
    forward_rows<T>(x_TH.data_ptr<T>(), delta_TH.data_ptr<T>(), weight_H.data_ptr<T>(), eps, sum_TH.data_ptr<T>(),
                    y_TH.data_ptr<T>(), rstd_T.data_ptr<float>(), x_TH.size(0), x_TH.size(1));
  });
}

void rms_norm_backward(const at::Tensor& y_gradient_TH, const at::Tensor& x_TH, const at::Tensor& rstd_T,
                       const at::Tensor& weight_H, const at::Tensor& residual_gradient_TH, GradientMode mode,
                       const at::Tensor& weight_gradient_H) {
  if (!x_TH.is_cpu()) {
    return detail::rms_norm_backward_aten(y_gradient_TH, x_TH, rstd_T, weight_H, residual_gradient_TH, mode,
                                          weight_gradient_H);
  }
  const std::int64_t rows = x_TH.size(0);
  const std::int64_t hidden = x_TH.size(1);
  const std::int64_t blocks = at::divup(rows, kRowsPerBlock);
  at::Tensor partial_BH = at::empty({blocks, hidden}, at::kFloat);
  with_element_type(x_TH.scalar_type(), [&](auto type) {
    using T = decltype(type);
    backward_rows<T>(y_gradient_TH.data_ptr<T>(), x_TH.data_ptr<T>(), rstd_T.data_ptr<float>(), weight_H.data_ptr<T>(),
                     residual_gradient_TH.data_ptr<T>(), partial_BH.data_ptr<float>(), rows, hidden);
  });
  with_element_type(weight_gradient_H.scalar_type(), [&](auto type) {
    using T = decltype(type);
    sum_blocks<T>(partial_BH.data_ptr<float>(), blocks, hidden, mode == GradientMode::kAccumulate,
                  weight_gradient_H.data_ptr<T>());
  });
}

namespace detail {

void rms_norm_forward_aten(const at::Tensor& x_TH, const at::Tensor& weight_H, double eps, const at::Tensor& y_TH,
                           const at::Tensor& rstd_T) {
  const at::Tensor wide_TH = x_TH.to(at::kFloat);
  rstd_T.copy_(at::rsqrt(at::add(at::mean(at::mul(wide_TH, wide_TH), 1), eps)));
  y_TH.copy_(at::mul(at::mul(wide_TH, rstd_T.unsqueeze(1)), weight_H.to(at::kFloat)));
}

void rms_norm_backward_aten(const at::Tensor& y_gradient_TH, const at::Tensor& x_TH, const at::Tensor& rstd_T,
                            const at::Tensor& weight_H, const at::Tensor& residual_gradient_TH, GradientMode mode,
                            const at::Tensor& weight_gradient_H) {
  const at::Tensor x_hat_TH = at::mul(x_TH.to(at::kFloat), rstd_T.unsqueeze(1));
  const at::Tensor wide_H = weight_H.to(at::kFloat);
  const at::Tensor gradient_TH = y_gradient_TH.to(at::kFloat);
  write_gradient(at::mul(gradient_TH, x_hat_TH).sum(0), mode, weight_gradient_H);
  const at::Tensor scaled_TH = at::mul(gradient_TH, wide_H);
  const at::Tensor mean_T1 = at::mul(scaled_TH, x_hat_TH).mean(1, true);
  const at::Tensor share_TH = at::mul(at::add(scaled_TH, at::mul(x_hat_TH, mean_T1), -1.0), rstd_T.unsqueeze(1));
  residual_gradient_TH.copy_(at::add(residual_gradient_TH.to(at::kFloat), share_TH));
  y_gradient_TH.copy_(at::mul(x_hat_TH, wide_H));
}

}  // namespace detail
}  // namespace athanor::ops
