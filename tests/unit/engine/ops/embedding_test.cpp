#include "engine/ops/embedding.h"

#include <ATen/ops/add.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/unit/engine/ops/reference.h"

namespace athanor::ops {
namespace {

using testing::distance;
using testing::leaf;
using testing::normal;
using testing::tolerance;

constexpr std::int64_t kVocabulary = 300;
constexpr std::int64_t kHidden = 20;

at::Tensor tokens(std::int64_t n) {
  const at::Tensor out = at::empty({n}, at::kInt);
  for (std::int32_t t = 0; t < n; ++t) out.data_ptr<std::int32_t>()[t] = t * t % 17 == 3 ? 299 : t * 5 % 13;
  return out;
}

struct Case {
  at::ScalarType type;
  at::ScalarType gradient_type;
};

class Embedding : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Types, Embedding,
                         ::testing::Values(Case{at::kFloat, at::kFloat}, Case{at::kBFloat16, at::kBFloat16},
                                           Case{at::kBFloat16, at::kFloat}, Case{at::kHalf, at::kHalf}));

TEST_P(Embedding, ForwardAndBackwardAgreeWithAutograd) {
  const auto [type, gradient_type] = GetParam();
  const at::Tensor table = normal({kVocabulary, kHidden}, 1, type);
  const at::Tensor gradient = normal({150, kHidden}, 2, type);
  const at::Tensor table_leaf = leaf(table);
  const at::Tensor expected = at::embedding(table_leaf, tokens(150));
  expected.backward(gradient.to(at::kDouble));

  const at::Tensor x = at::empty({150, kHidden}, type);
  embedding_forward(tokens(150), table, x);
  EXPECT_EQ(distance(x, expected), 0.0);

  const at::Tensor table_gradient = at::empty({kVocabulary, kHidden}, gradient_type).fill_(6e4);
  embedding_backward(gradient, tokens(150), GradientMode::kOverwrite, table_gradient);
  EXPECT_LT(distance(table_gradient, table_leaf.grad()), tolerance(gradient_type));
  embedding_backward(gradient, tokens(150), GradientMode::kAccumulate, table_gradient);
  EXPECT_LT(distance(table_gradient, at::add(table_leaf.grad(), table_leaf.grad())), tolerance(gradient_type));

  const at::Tensor aten_gradient = at::empty({kVocabulary, kHidden}, gradient_type);
  detail::embedding_backward_aten(gradient, tokens(150), GradientMode::kOverwrite, aten_gradient);
  EXPECT_LT(distance(aten_gradient, table_leaf.grad()), tolerance(gradient_type));
}

TEST(EmbeddingBackward, WithoutTokensOverwritesWithZeros) {
  const at::Tensor table_gradient = at::empty({kVocabulary, kHidden}, at::kFloat).fill_(3.0);
  embedding_backward(at::empty({0, kHidden}, at::kFloat), tokens(0), GradientMode::kOverwrite, table_gradient);
  EXPECT_EQ(table_gradient.abs().max().item<float>(), 0.0F);
}

TEST(EmbeddingNoise, IsBoundedByTheSizeForItsSequenceAndCentred) {
  const at::Tensor x = at::zeros({100, 33}, at::kFloat);
  const std::array<std::int32_t, 3> starts = {0, 20, 100};
  add_embedding_noise(x, starts, {.alpha = 5.0, .seed = 1, .stream = 2});
  const double sizes[2] = {5.0 / std::sqrt(20.0 * 33.0), 5.0 / std::sqrt(80.0 * 33.0)};
  const at::Tensor parts[2] = {x.narrow(0, 0, 20), x.narrow(0, 20, 80)};
  for (int i = 0; i < 2; ++i) {
    const double largest = parts[i].abs().max().item<double>();
    EXPECT_LE(largest, sizes[i] * 1.000001);
    EXPECT_GT(largest, sizes[i] * 0.95);
    EXPECT_NEAR(parts[i].mean().item<double>(), 0.0, sizes[i] * 0.1);
    EXPECT_NEAR(parts[i].square().mean().item<double>(), sizes[i] * sizes[i] / 3.0, sizes[i] * sizes[i] * 0.05);
  }
}

TEST(EmbeddingNoise, DependsOnSeedAndStreamAloneAndNotOnOtherSequences) {
  const std::array<std::int32_t, 2> one = {0, 20};
  const std::array<std::int32_t, 3> two = {0, 20, 30};
  const auto noise = [](std::int64_t rows, std::span<const std::int32_t> starts, std::uint64_t stream) {
    const at::Tensor x = at::zeros({rows, 33}, at::kFloat);
    add_embedding_noise(x, starts, {.alpha = 5.0, .seed = 1, .stream = stream});
    return x;
  };
  EXPECT_TRUE(testing::same_bits(noise(20, one, 7), noise(20, one, 7)));
  EXPECT_TRUE(testing::same_bits(noise(20, one, 7), noise(30, two, 7).narrow(0, 0, 20)));
  EXPECT_FALSE(testing::same_bits(noise(20, one, 7), noise(20, one, 8)));
}

}  // namespace
}  // namespace athanor::ops
