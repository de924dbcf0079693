#include "engine/ops/linear.h"

#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/linear.h>
#include <gtest/gtest.h>

#include "tests/unit/engine/ops/reference.h"

namespace athanor::ops {
namespace {

using testing::distance;
using testing::leaf;
using testing::normal;
using testing::tolerance;

struct Case {
  at::ScalarType type;
  at::ScalarType gradient_type;
};

class Linear : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Types, Linear,
                         ::testing::Values(Case{at::kFloat, at::kFloat}, Case{at::kBFloat16, at::kBFloat16},
                                           Case{at::kBFloat16, at::kFloat}, Case{at::kHalf, at::kFloat}));

TEST_P(Linear, ForwardAndBackwardAgreeWithAutograd) {
  const auto [type, gradient_type] = GetParam();
  const at::Tensor x = normal({70, 48}, 1, type);
  const at::Tensor weight = normal({96, 48}, 2, type);
  const at::Tensor bias = normal({96}, 3, type);
  const at::Tensor gradient = normal({70, 96}, 4, type);
  const at::Tensor x_leaf = leaf(x);
  const at::Tensor weight_leaf = leaf(weight);
  const at::Tensor bias_leaf = leaf(bias);
  const at::Tensor expected = at::linear(x_leaf, weight_leaf, bias_leaf);
  expected.backward(gradient.to(at::kDouble));

  const at::Tensor y = at::empty({70, 96}, type);
  linear_forward(x, weight, bias, y);
  EXPECT_LT(distance(y, expected), tolerance(type));

  const at::Tensor x_gradient = at::empty_like(x);
  linear_backward_input(gradient, weight, GradientMode::kOverwrite, x_gradient);
  EXPECT_LT(distance(x_gradient, x_leaf.grad()), tolerance(type));
  linear_backward_input(gradient, weight, GradientMode::kAccumulate, x_gradient);
  EXPECT_LT(distance(x_gradient, at::add(x_leaf.grad(), x_leaf.grad())), tolerance(type));

  const at::Tensor weight_gradient = at::empty({96, 48}, gradient_type).fill_(6e4);
  const at::Tensor bias_gradient = at::empty({96}, gradient_type).fill_(6e4);
  linear_backward_weight(gradient, x, GradientMode::kOverwrite, weight_gradient);
  linear_backward_bias(gradient, GradientMode::kOverwrite, bias_gradient);
  EXPECT_LT(distance(weight_gradient, weight_leaf.grad()), tolerance(type));
  EXPECT_LT(distance(bias_gradient, bias_leaf.grad()), tolerance(gradient_type));
  linear_backward_weight(gradient, x, GradientMode::kAccumulate, weight_gradient);
  linear_backward_bias(gradient, GradientMode::kAccumulate, bias_gradient);
  EXPECT_LT(distance(weight_gradient, at::add(weight_leaf.grad(), weight_leaf.grad())), tolerance(type));
  EXPECT_LT(distance(bias_gradient, at::add(bias_leaf.grad(), bias_leaf.grad())), tolerance(gradient_type));
}

TEST_P(Linear, WritesASliceOfColumnsAndNothingElse) {
  const at::ScalarType type = GetParam().type;
  const at::Tensor x = normal({33, 32}, 1, type);
  const at::Tensor weight = normal({16, 32}, 2, type);
  const at::Tensor joined = at::empty({33, 64}, type).fill_(7.0);
  linear_forward(x, weight, {}, joined.narrow(1, 16, 16));
  EXPECT_LT(distance(joined.narrow(1, 16, 16), at::linear(x.to(at::kDouble), weight.to(at::kDouble))), tolerance(type));
  EXPECT_EQ(distance(joined.narrow(1, 0, 16), at::empty({33, 16}, type).fill_(7.0)), 0.0);
  EXPECT_EQ(distance(joined.narrow(1, 32, 32), at::empty({33, 32}, type).fill_(7.0)), 0.0);
}

}  // namespace
}  // namespace athanor::ops
