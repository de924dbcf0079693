// T tokens, I in, O out.
#include "engine/ops/linear.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "engine/ops/gradient_write.h"
#include "engine/ops/product_type.h"

namespace athanor::ops {
namespace {

// Widened weights of one part; see Note [Products without hardware].
constexpr std::int64_t kWideElements = std::int64_t{4} << 20;

// Fewer tokens, as in generation, cost less than widening the weights.
constexpr std::int64_t kFewTokens = 8;

// Calls part(first, count) over the outputs, so that part x num_inputs elements are widened at a time.
template <typename Part>
void for_each_wide_part(std::int64_t num_outputs, std::int64_t num_inputs, const Part& part) {
  const std::int64_t outputs = std::max<std::int64_t>(64, kWideElements / num_inputs);
  for (std::int64_t first = 0; first < num_outputs; first += outputs) {
    part(first, std::min(outputs, num_outputs - first));
  }
}

void linear_forward_wide(const at::Tensor& x_TI, const at::Tensor& weight_OI, const at::Tensor& bias_O,
                         const at::Tensor& y_TO) {
  const at::Tensor wide_TI = x_TI.to(at::kFloat);
  for_each_wide_part(weight_OI.size(0), weight_OI.size(1), [&](std::int64_t first, std::int64_t count) {
    const at::Tensor part_IP = weight_OI.narrow(0, first, count).to(at::kFloat).t();
    const at::Tensor y_TP = bias_O.defined()
                                ? at::addmm(bias_O.narrow(0, first, count).to(at::kFloat), wide_TI, part_IP)
                                : at::mm(wide_TI, part_IP);
    y_TO.narrow(1, first, count).copy_(y_TP);
  });
}

void linear_backward_input_wide(const at::Tensor& y_gradient_TO, const at::Tensor& weight_OI, GradientMode mode,
                                const at::Tensor& x_gradient_TI) {
  at::Tensor sum_TI = mode == GradientMode::kAccumulate
                          ? x_gradient_TI.to(at::kFloat)
                          : at::zeros(x_gradient_TI.sizes(), x_gradient_TI.options().dtype(at::kFloat));
  for_each_wide_part(weight_OI.size(0), weight_OI.size(1), [&](std::int64_t first, std::int64_t count) {
    sum_TI.addmm_(y_gradient_TO.narrow(1, first, count).to(at::kFloat),
                  weight_OI.narrow(0, first, count).to(at::kFloat));
  });
  x_gradient_TI.copy_(sum_TI);
}

void linear_backward_weight_wide(const at::Tensor& y_gradient_TO, const at::Tensor& x_TI, GradientMode mode,
                                 const at::Tensor& weight_gradient_OI) {
  const at::Tensor wide_TI = x_TI.to(at::kFloat);
  for_each_wide_part(weight_gradient_OI.size(0), weight_gradient_OI.size(1),
                     [&](std::int64_t first, std::int64_t count) {
                       const at::Tensor part_PT = y_gradient_TO.narrow(1, first, count).to(at::kFloat).t();
                       at::Tensor out_PI = weight_gradient_OI.narrow(0, first, count);
                       if (out_PI.scalar_type() != at::kFloat) {
                         write_gradient(at::mm(part_PT, wide_TI), mode, out_PI);
                       } else if (mode == GradientMode::kAccumulate) {
                         out_PI.addmm_(part_PT, wide_TI);
                       } else {
                         at::mm_out(out_PI, part_PT, wide_TI);
                       }
                     });
}

}  // namespace

void linear_forward(const at::Tensor& x_TI, const at::Tensor& weight_OI, const at::Tensor& bias_O,
                    const at::Tensor& y_TO) {
  if (x_TI.size(0) >= kFewTokens && wants_wide_products(x_TI))
    return linear_forward_wide(x_TI, weight_OI, bias_O, y_TO);
  at::Tensor out_TO = y_TO;
  if (bias_O.defined()) {
    at::addmm_out(out_TO, bias_O, x_TI, weight_OI.t());
  } else {
    at::mm_out(out_TO, x_TI, weight_OI.t());
  }
}

void linear_backward_input(const at::Tensor& y_gradient_TO, const at::Tensor& weight_OI, GradientMode mode,
                           const at::Tensor& x_gradient_TI) {
  if (wants_wide_products(weight_OI)) return linear_backward_input_wide(y_gradient_TO, weight_OI, mode, x_gradient_TI);
  at::Tensor out_TI = x_gradient_TI;
  if (mode == GradientMode::kAccumulate) {
    at::addmm_out(out_TI, out_TI, y_gradient_TO, weight_OI);
  } else {
    at::mm_out(out_TI, y_gradient_TO, weight_OI);
  }
}

void linear_backward_weight(const at::Tensor& y_gradient_TO, const at::Tensor& x_TI, GradientMode mode,
                            const at::Tensor& weight_gradient_OI) {
  if (wants_wide_products(x_TI)) return linear_backward_weight_wide(y_gradient_TO, x_TI, mode, weight_gradient_OI);
  at::Tensor out_OI = weight_gradient_OI;
  if (out_OI.scalar_type() != x_TI.scalar_type()) {
    write_gradient(at::mm(y_gradient_TO.t(), x_TI), mode, out_OI);
  } else if (mode == GradientMode::kAccumulate) {
    at::addmm_out(out_OI, out_OI, y_gradient_TO.t(), x_TI);
  } else {
    at::mm_out(out_OI, y_gradient_TO.t(), x_TI);
  }
}

void linear_backward_bias(const at::Tensor& y_gradient_TO, GradientMode mode, const at::Tensor& bias_gradient_O) {
  write_gradient(at::sum(y_gradient_TO, at::IntArrayRef{0}, false, at::kFloat), mode, bias_gradient_O);
}

}  // namespace athanor::ops
