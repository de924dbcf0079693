#include "engine/ops/rms_norm.h"

#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/rsqrt.h>
#include <gtest/gtest.h>

#include "tests/unit/engine/ops/reference.h"

namespace athanor::ops {
namespace {

using testing::distance;
using testing::leaf;
using testing::normal;
using testing::tolerance;

constexpr double kEps = 1e-5;

at::Tensor reference(const at::Tensor& x, const at::Tensor& weight) {
  return at::mul(at::mul(x, at::rsqrt(at::add(at::mul(x, x).mean(1, true), kEps))), weight);
}

class RmsNorm : public ::testing::TestWithParam<at::ScalarType> {};
INSTANTIATE_TEST_SUITE_P(Types, RmsNorm, ::testing::Values(at::kFloat, at::kBFloat16, at::kHalf));

TEST_P(RmsNorm, ForwardAndBackwardAgreeWithAutograd) {
  const at::Tensor x = normal({77, 53}, 1, GetParam());
  const at::Tensor weight = normal({53}, 2, GetParam());
  const at::Tensor gradient = normal({77, 53}, 3, GetParam());
  const at::Tensor residual = normal({77, 53}, 4, GetParam());
  const at::Tensor x_leaf = leaf(x);
  const at::Tensor weight_leaf = leaf(weight);
  const at::Tensor expected = reference(x_leaf, weight_leaf);
  expected.backward(gradient.to(at::kDouble));

  const at::Tensor y = at::empty_like(x);
  const at::Tensor rstd = at::empty({77}, at::kFloat);
  rms_norm_forward(x, weight, kEps, y, rstd);
  EXPECT_LT(distance(y, expected), tolerance(GetParam()));

  const at::Tensor y_gradient = gradient.clone();
  const at::Tensor x_gradient = residual.clone();
  const at::Tensor weight_gradient = at::empty({53}, at::kFloat);
  rms_norm_backward(y_gradient, x, rstd, weight, x_gradient, GradientMode::kOverwrite, weight_gradient);
  EXPECT_LT(distance(x_gradient, at::add(x_leaf.grad(), residual.to(at::kDouble))), tolerance(GetParam()));
  EXPECT_LT(distance(weight_gradient, weight_leaf.grad()), 2e-6);
  EXPECT_TRUE(testing::same_bits(y_gradient, y)) << "the backward must leave the forward's output behind";

  const at::Tensor narrow = normal({53}, 5, GetParam());
  const at::Tensor expected_sum = at::add(weight_leaf.grad(), narrow.to(at::kDouble));
  rms_norm_backward(gradient.clone(), x, rstd, weight, residual.clone(), GradientMode::kAccumulate, narrow);
  EXPECT_LT(distance(narrow, expected_sum), tolerance(GetParam()));
}

TEST_P(RmsNorm, AddingFirstEqualsNormalisingTheStoredSum) {
  const at::Tensor x = normal({9, 64}, 1, GetParam());
  const at::Tensor delta = normal({9, 64}, 2, GetParam());
  const at::Tensor weight = normal({64}, 3, GetParam());
  const at::Tensor sum = at::empty_like(x);
  const at::Tensor y = at::empty_like(x);
  const at::Tensor rstd = at::empty({9}, at::kFloat);
  add_rms_norm_forward(x, delta, weight, kEps, sum, y, rstd);
  EXPECT_LT(distance(sum, at::add(x.to(at::kDouble), delta.to(at::kDouble))), tolerance(GetParam()));
  const at::Tensor again = at::empty_like(x);
  const at::Tensor rstd_again = at::empty({9}, at::kFloat);
  rms_norm_forward(sum, weight, kEps, again, rstd_again);
  EXPECT_TRUE(testing::same_bits(y, again));
  EXPECT_TRUE(testing::same_bits(rstd, rstd_again));
}

TEST_P(RmsNorm, AtenPathAgreesWithTheLoops) {
  const at::Tensor x = normal({40, 48}, 1, GetParam());
  const at::Tensor weight = normal({48}, 2, GetParam());
  const at::Tensor gradient = normal({40, 48}, 3, GetParam());
  const at::Tensor y[2] = {at::empty_like(x), at::empty_like(x)};
  const at::Tensor rstd[2] = {at::empty({40}, at::kFloat), at::empty({40}, at::kFloat)};
  rms_norm_forward(x, weight, kEps, y[0], rstd[0]);
  detail::rms_norm_forward_aten(x, weight, kEps, y[1], rstd[1]);
  EXPECT_LT(distance(y[1], y[0]), tolerance(GetParam()));
  EXPECT_LT(distance(rstd[1], rstd[0]), 1e-6);
  const at::Tensor x_gradient[2] = {at::empty_like(x).fill_(0.5), at::empty_like(x).fill_(0.5)};
  const at::Tensor weight_gradient[2] = {at::empty({48}, at::kFloat), at::empty({48}, at::kFloat)};
  rms_norm_backward(gradient.clone(), x, rstd[0], weight, x_gradient[0], GradientMode::kOverwrite, weight_gradient[0]);
  detail::rms_norm_backward_aten(gradient.clone(), x, rstd[0], weight, x_gradient[1], GradientMode::kOverwrite,
                                 weight_gradient[1]);
  EXPECT_LT(distance(x_gradient[1], x_gradient[0]), tolerance(GetParam()));
  EXPECT_LT(distance(weight_gradient[1], weight_gradient[0]), 2e-6);
}

TEST(RmsNormLarge, SixteenBitValuesWhoseSquareOverflowsAreNormalised) {
  const at::Tensor x = at::empty({1, 8}, at::kHalf).fill_(60000.0);
  const at::Tensor weight = at::empty({8}, at::kHalf).fill_(1.0);
  const at::Tensor y = at::empty_like(x);
  const at::Tensor rstd = at::empty({1}, at::kFloat);
  rms_norm_forward(x, weight, kEps, y, rstd);
  EXPECT_LT(distance(y, weight.unsqueeze(0)), 1e-3);
}

}  // namespace
}  // namespace athanor::ops
