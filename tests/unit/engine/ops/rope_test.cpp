#include "engine/ops/rope.h"

#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/engine/ops/reference.h"

namespace athanor::ops {
namespace {

using testing::distance;
using testing::normal;
using testing::tolerance;

constexpr std::int64_t kHeads = 3;
constexpr std::int64_t kHeadDim = 24;
constexpr std::int64_t kTokens = 11;

std::vector<float> frequencies() {
  std::vector<float> out;
  for (std::int64_t i = 0; i < kHeadDim / 2; ++i) {
    out.push_back(static_cast<float>(std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(kHeadDim))));
  }
  return out;
}

at::Tensor positions() {
  const at::Tensor out = at::empty({kTokens}, at::kInt);
  for (std::int32_t t = 0; t < kTokens; ++t) out.data_ptr<std::int32_t>()[t] = t < 4 ? t : t - 4;
  return out;
}

class Rope : public ::testing::TestWithParam<at::ScalarType> {};
INSTANTIATE_TEST_SUITE_P(Types, Rope, ::testing::Values(at::kFloat, at::kBFloat16, at::kHalf));

TEST_P(Rope, RotatesPairsOfAHeadsHalvesAndLeavesOtherColumnsAlone) {
  const at::Tensor qkv = normal({kTokens, kHeads * kHeadDim + 5}, 1, GetParam());
  const at::Tensor rotated = qkv.clone();
  const RopeTable table = make_rope_table(frequencies(), 1.25, 7, at::kCPU);
  rotate_heads(rotated, kHeads, kHeadDim, table, positions(), Rotation::kForward);
  const at::Tensor in = qkv.to(at::kDouble);
  const at::Tensor out = rotated.to(at::kDouble);
  const std::int64_t half = kHeadDim / 2;
  for (std::int64_t t = 0; t < kTokens; ++t) {
    const double position = static_cast<double>(t < 4 ? t : t - 4);
    for (std::int64_t h = 0; h < kHeads; ++h) {
      for (std::int64_t i = 0; i < half; ++i) {
        const double angle =
            position * std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(kHeadDim));
        const double a = in[t][h * kHeadDim + i].item<double>();
        const double b = in[t][h * kHeadDim + half + i].item<double>();
        const double allowed = 10.0 * tolerance(GetParam());
        EXPECT_NEAR(out[t][h * kHeadDim + i].item<double>(), 1.25 * (a * std::cos(angle) - b * std::sin(angle)),
                    allowed);
        EXPECT_NEAR(out[t][h * kHeadDim + half + i].item<double>(), 1.25 * (b * std::cos(angle) + a * std::sin(angle)),
                    allowed);
      }
    }
  }
  EXPECT_TRUE(testing::same_bits(rotated.narrow(1, kHeads * kHeadDim, 5), qkv.narrow(1, kHeads * kHeadDim, 5)));
}

// <R x, y> = <x, R' y> for every x, y says that the backward is the transposed matrix.
TEST(RopeBackward, IsTheTransposedRotation) {
  const RopeTable table = make_rope_table(frequencies(), 0.8, 7, at::kCPU);
  const at::Tensor x = normal({kTokens, kHeads * kHeadDim}, 1);
  const at::Tensor y = normal({kTokens, kHeads * kHeadDim}, 2);
  const at::Tensor rotated_x = x.clone();
  rotate_heads(rotated_x, kHeads, kHeadDim, table, positions(), Rotation::kForward);
  const at::Tensor rotated_y = y.clone();
  rotate_heads(rotated_y, kHeads, kHeadDim, table, positions(), Rotation::kBackward);
  EXPECT_NEAR(at::mul(rotated_x, y).sum(at::kDouble).item<double>(),
              at::mul(x, rotated_y).sum(at::kDouble).item<double>(), 1e-4);
}

TEST_P(Rope, AtenPathAgreesWithTheLoops) {
  const RopeTable table = make_rope_table(frequencies(), 1.0, 7, at::kCPU);
  const at::Tensor qkv[2] = {normal({kTokens, 90}, 1, GetParam()), normal({kTokens, 90}, 1, GetParam())};
  for (const Rotation rotation : {Rotation::kForward, Rotation::kBackward}) {
    rotate_heads(qkv[0], kHeads, kHeadDim, table, positions(), rotation);
    detail::rotate_heads_aten(qkv[1], kHeads, kHeadDim, table, positions(), rotation);
    EXPECT_LT(distance(qkv[1], qkv[0]), tolerance(GetParam()));
  }
}

}  // namespace
}  // namespace athanor::ops
