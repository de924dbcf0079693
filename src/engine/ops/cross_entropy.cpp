// R rows with a target, C rows of one part, H hidden, V vocabulary.
#include "engine/ops/cross_entropy.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/full.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sub.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/ops/element_type.h"
#include "engine/ops/lanes.h"
#include "engine/ops/linear.h"

namespace athanor::ops {
namespace {

// Large enough that the weight gradient, which every part reads and writes once, costs little beside the products.
constexpr std::int64_t kLogitsBytes = std::int64_t{32} << 20;
constexpr std::int64_t kMinimumRows = 128;
constexpr std::int64_t kRowMultiple = 16;

template <typename T>
ATHANOR_VECTOR_CLONES float maximum_of(const T* logits_V, std::int64_t n) {
  float maximum = -std::numeric_limits<float>::infinity();
#pragma omp simd reduction(max : maximum)
  for (std::int64_t i = 0; i < n; ++i) {
    const float value = lanes::to_float(logits_V[i]);
    maximum = value > maximum ? value : maximum;
  }
  return maximum;
}

template <typename T>
ATHANOR_VECTOR_CLONES float sum_of_exponentials(const T* logits_V, float maximum, std::int64_t n) {
  float sum = 0.0F;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) sum += lanes::exp(lanes::to_float(logits_V[i]) - maximum);
  return sum;
}

template <typename T>
ATHANOR_VECTOR_CLONES void softmax_gradient(T* logits_V, float logsumexp, float weight, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    logits_V[i] = lanes::from_float<T>(lanes::exp(lanes::to_float(logits_V[i]) - logsumexp) * weight);
  }
}

template <typename T>
float cross_entropy_row(T* logits_V, std::int32_t target, float weight, std::int64_t vocabulary) {
  if (target < 0) {
    std::fill(logits_V, logits_V + vocabulary, T(0.0F));
    return 0.0F;
  }
  const float maximum = maximum_of(logits_V, vocabulary);
  const float logsumexp = maximum + std::log(sum_of_exponentials(logits_V, maximum, vocabulary));
  const float target_logit = lanes::to_float(logits_V[target]);
  if (weight != 0.0F) {
    softmax_gradient(logits_V, logsumexp, weight, vocabulary);
    logits_V[target] = lanes::from_float<T>((lanes::exp(target_logit - logsumexp) - 1.0F) * weight);
  }
  return logsumexp - target_logit;
}

// Calls part(first, count) over the rows in order.
template <typename Part>
void for_each_part(std::int64_t num_rows, std::int64_t rows_at_a_time, const Part& part) {
  for (std::int64_t first = 0; first < num_rows; first += rows_at_a_time) {
    part(first, std::min(rows_at_a_time, num_rows - first));
  }
}

double sum_losses(const at::Tensor& losses_R) { return losses_R.sum(at::kDouble).item<double>(); }

std::int64_t rows_at_a_time_of(const at::Tensor& hidden_RH, const at::Tensor& weight_VH) {
  return loss_rows_at_a_time(hidden_RH.size(0), weight_VH.size(0), static_cast<std::int64_t>(hidden_RH.element_size()));
}

}  // namespace

std::int64_t loss_rows_at_a_time(std::int64_t num_rows, std::int64_t vocabulary, std::int64_t element_bytes) {
  const std::int64_t most = std::max(kMinimumRows, kLogitsBytes / (vocabulary * element_bytes));
  const std::int64_t parts = std::max<std::int64_t>(1, (num_rows + most - 1) / most);
  // A multiple, so that few shapes of matrix products come up whatever the number of rows.
  const std::int64_t rows = (num_rows + parts - 1) / parts;
  return std::min(num_rows, (rows + kRowMultiple - 1) / kRowMultiple * kRowMultiple);
}

double linear_cross_entropy(const at::Tensor& hidden_RH, const at::Tensor& weight_VH, const at::Tensor& targets_R,
                            const at::Tensor& logits_CV, const LossGradients& gradients) {
  const at::Tensor losses_R = at::empty({hidden_RH.size(0)}, hidden_RH.options().dtype(at::kFloat));
  GradientMode mode = gradients.weight_mode;
  for_each_part(hidden_RH.size(0), rows_at_a_time_of(hidden_RH, weight_VH),
                [&](std::int64_t first, std::int64_t count) {
                  const at::Tensor hidden_CH = hidden_RH.narrow(0, first, count);
                  const at::Tensor part_CV = logits_CV.narrow(0, 0, count);
                  linear_forward(hidden_CH, weight_VH, {}, part_CV);
                  detail::cross_entropy_rows(part_CV, targets_R.narrow(0, first, count), gradients.loss_weight,
                                             losses_R.narrow(0, first, count));
                  linear_backward_weight(part_CV, hidden_CH, mode, gradients.weight_VH);
                  linear_backward_input(part_CV, weight_VH, GradientMode::kOverwrite,
                                        gradients.hidden_RH.narrow(0, first, count));
                  mode = GradientMode::kAccumulate;
                });
  return sum_losses(losses_R);
}

double linear_cross_entropy(const at::Tensor& hidden_RH, const at::Tensor& weight_VH, const at::Tensor& targets_R,
                            const at::Tensor& logits_CV) {
  const at::Tensor losses_R = at::empty({hidden_RH.size(0)}, hidden_RH.options().dtype(at::kFloat));
  for_each_part(
      hidden_RH.size(0), rows_at_a_time_of(hidden_RH, weight_VH), [&](std::int64_t first, std::int64_t count) {
        const at::Tensor part_CV = logits_CV.narrow(0, 0, count);
        linear_forward(hidden_RH.narrow(0, first, count), weight_VH, {}, part_CV);
        detail::cross_entropy_rows(part_CV, targets_R.narrow(0, first, count), 0.0, losses_R.narrow(0, first, count));
      });
  return sum_losses(losses_R);
}

namespace detail {

void cross_entropy_rows(const at::Tensor& logits_CV, const at::Tensor& targets_C, double loss_weight,
                        const at::Tensor& losses_C) {
  if (!logits_CV.is_cpu()) return cross_entropy_rows_aten(logits_CV, targets_C, loss_weight, losses_C);
  const std::int64_t vocabulary = logits_CV.size(1);
  const std::int32_t* targets = targets_C.data_ptr<std::int32_t>();
  float* losses = losses_C.data_ptr<float>();
  with_element_type(logits_CV.scalar_type(), [&](auto type) {
    using T = decltype(type);
    T* logits = logits_CV.data_ptr<T>();
    at::parallel_for(0, logits_CV.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c) {
        losses[c] = cross_entropy_row(logits + c * vocabulary, targets[c], static_cast<float>(loss_weight), vocabulary);
      }
    });
  });
}

void cross_entropy_rows_aten(const at::Tensor& logits_CV, const at::Tensor& targets_C, double loss_weight,
                             const at::Tensor& losses_C) {
  const at::Tensor wide_CV = logits_CV.to(at::kFloat);
  const at::Tensor missing_C1 = targets_C.lt(0).unsqueeze(1);
  const at::Tensor targets_C1 = targets_C.to(at::kLong).clamp_min(0).unsqueeze(1);
  const at::Tensor logsumexp_C1 = at::logsumexp(wide_CV, 1, true);
  losses_C.copy_(at::sub(logsumexp_C1, wide_CV.gather(1, targets_C1)).masked_fill_(missing_C1, 0.0).squeeze(1));
  if (loss_weight == 0.0) return;
  const at::Tensor gradient_CV = at::sub(wide_CV, logsumexp_C1).exp_();
  gradient_CV.scatter_add_(1, targets_C1, at::full({targets_C1.size(0), 1}, -1.0, wide_CV.options()));
  logits_CV.copy_(at::mul(gradient_CV, loss_weight).masked_fill_(missing_C1, 0.0));
}

}  // namespace detail
}  // namespace athanor::ops
