#include "engine/ops/swiglu.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/silu.h>
#include <gtest/gtest.h>

#include "tests/unit/engine/ops/reference.h"

namespace athanor::ops {
namespace {

using testing::distance;
using testing::normal;
using testing::tolerance;

class Swiglu : public ::testing::TestWithParam<at::ScalarType> {};
INSTANTIATE_TEST_SUITE_P(Types, Swiglu, ::testing::Values(at::kFloat, at::kBFloat16, at::kHalf));

TEST_P(Swiglu, ForwardAndBackwardAgreeWithAutograd) {
  const at::Tensor gate_up = normal({19, 2 * 37}, 1, GetParam()).mul_(4.0);
  const at::Tensor gradient = normal({19, 37}, 2, GetParam());
  const at::Tensor leaf = testing::leaf(gate_up);
  const at::Tensor expected = at::mul(at::silu(leaf.narrow(1, 0, 37)), leaf.narrow(1, 37, 37));
  expected.backward(gradient.to(at::kDouble));

  const at::Tensor h = at::empty_like(gradient);
  swiglu_forward(gate_up, h);
  EXPECT_LT(distance(h, expected), tolerance(GetParam()));

  const at::Tensor h_again = gradient.clone();
  const at::Tensor gate_up_gradient = gate_up.clone();
  swiglu_backward(h_again, gate_up_gradient);
  EXPECT_LT(distance(gate_up_gradient, leaf.grad()), tolerance(GetParam()));
  EXPECT_LT(distance(h_again, h), GetParam() == at::kFloat ? 1e-6 : tolerance(GetParam()));
}

TEST_P(Swiglu, AtenPathAgreesWithTheLoops) {
  const at::Tensor gate_up = normal({5, 64}, 1, GetParam());
  const at::Tensor h[2] = {at::empty({5, 32}, GetParam()), at::empty({5, 32}, GetParam())};
  swiglu_forward(gate_up, h[0]);
  detail::swiglu_forward_aten(gate_up, h[1]);
  EXPECT_LT(distance(h[1], h[0]), tolerance(GetParam()));
  const at::Tensor gradient[2] = {normal({5, 32}, 2, GetParam()), normal({5, 32}, 2, GetParam())};
  const at::Tensor gate_up_gradient[2] = {gate_up.clone(), gate_up.clone()};
  swiglu_backward(gradient[0], gate_up_gradient[0]);
  detail::swiglu_backward_aten(gradient[1], gate_up_gradient[1]);
  EXPECT_LT(distance(gate_up_gradient[1], gate_up_gradient[0]), tolerance(GetParam()));
  EXPECT_LT(distance(gradient[1], gradient[0]), tolerance(GetParam()));
}

TEST(SwigluExtremes, LargeGatesNeitherOverflowNorLoseTheirSign) {
  const at::Tensor gate_up = at::empty({1, 8}, at::kFloat);
  const float gates[4] = {-1e4F, -90.0F, 90.0F, 1e4F};
  for (int i = 0; i < 4; ++i) {
    gate_up.data_ptr<float>()[i] = gates[i];
    gate_up.data_ptr<float>()[4 + i] = 2.0F;
  }
  const at::Tensor h = at::empty({1, 4}, at::kFloat);
  swiglu_forward(gate_up, h);
  const float* values = h.data_ptr<float>();
  EXPECT_NEAR(values[0], 0.0F, 1e-30F);
  EXPECT_NEAR(values[1], 0.0F, 1e-30F);
  EXPECT_FLOAT_EQ(values[2], 180.0F);
  EXPECT_FLOAT_EQ(values[3], 2e4F);
}

}  // namespace
}  // namespace athanor::ops
