#include "engine/ops/cross_entropy.h"

#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mul.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/engine/ops/reference.h"

namespace athanor::ops {
namespace {

using testing::distance;
using testing::leaf;
using testing::normal;
using testing::tolerance;

// Every fifth row has no target.
at::Tensor make_targets(std::int64_t n, std::int64_t vocabulary) {
  const at::Tensor out = at::empty({n}, at::kInt);
  for (std::int32_t t = 0; t < n; ++t) {
    out.data_ptr<std::int32_t>()[t] = t % 5 == 4 ? -100 : t * 7 % static_cast<std::int32_t>(vocabulary);
  }
  return out;
}

class CrossEntropy : public ::testing::TestWithParam<at::ScalarType> {};
INSTANTIATE_TEST_SUITE_P(Types, CrossEntropy, ::testing::Values(at::kFloat, at::kBFloat16, at::kHalf));

TEST_P(CrossEntropy, LossAndGradientsAgreeWithAutograd) {
  constexpr std::int64_t kRows = 37;
  constexpr std::int64_t kHidden = 24;
  constexpr std::int64_t kVocabulary = 129;
  const at::Tensor hidden = normal({kRows, kHidden}, 1, GetParam());
  const at::Tensor weight = normal({kVocabulary, kHidden}, 2, GetParam());
  const at::Tensor targets = make_targets(kRows, kVocabulary);
  const at::Tensor hidden_leaf = leaf(hidden);
  const at::Tensor weight_leaf = leaf(weight);
  const at::Tensor expected = at::cross_entropy_loss(at::linear(hidden_leaf, weight_leaf), targets.to(at::kLong), {},
                                                     /*reduction: sum*/ 2);
  at::mul(expected, 0.125).backward();

  const at::Tensor logits = at::empty({kRows, kVocabulary}, GetParam());
  const at::Tensor hidden_gradient = hidden.clone();
  const at::Tensor weight_gradient = at::empty({kVocabulary, kHidden}, at::kFloat);
  const double loss = linear_cross_entropy(hidden, weight, targets, logits,
                                           {hidden_gradient, weight_gradient, GradientMode::kOverwrite, 0.125});
  EXPECT_NEAR(loss / expected.item<double>(), 1.0, GetParam() == at::kFloat ? 1e-6 : 2e-3);
  EXPECT_LT(distance(hidden_gradient, hidden_leaf.grad()), 2.0 * tolerance(GetParam()));
  EXPECT_LT(distance(weight_gradient, weight_leaf.grad()), 2.0 * tolerance(GetParam()));
  EXPECT_EQ(linear_cross_entropy(hidden, weight, targets, logits), loss);
}

TEST_P(CrossEntropy, AtenPathAgreesWithTheLoops) {
  const at::Tensor logits[2] = {normal({6, 50}, 1, GetParam()), normal({6, 50}, 1, GetParam())};
  const at::Tensor losses[2] = {at::empty({6}, at::kFloat), at::empty({6}, at::kFloat)};
  detail::cross_entropy_rows(logits[0], make_targets(6, 50), 0.5, losses[0]);
  detail::cross_entropy_rows_aten(logits[1], make_targets(6, 50), 0.5, losses[1]);
  EXPECT_LT(distance(losses[1], losses[0]), 1e-6);
  EXPECT_LT(distance(logits[1], logits[0]), tolerance(GetParam()));
}

TEST(CrossEntropyParts, ManyPartsGiveTheSumsOfOne) {
  constexpr std::int64_t kRows = 288;
  constexpr std::int64_t kVocabulary = 70000;
  const std::int64_t part = loss_rows_at_a_time(kRows, kVocabulary, 4);
  ASSERT_EQ(part, 96);
  const at::Tensor hidden = normal({kRows, 4}, 1);
  const at::Tensor weight = normal({kVocabulary, 4}, 2);
  const at::Tensor targets = make_targets(kRows, kVocabulary);
  const at::Tensor logits = at::empty({part, kVocabulary}, at::kFloat);
  const at::Tensor hidden_gradient = at::empty_like(hidden);
  const at::Tensor weight_gradient = at::empty_like(weight);
  const double loss = linear_cross_entropy(hidden, weight, targets, logits,
                                           {hidden_gradient, weight_gradient, GradientMode::kOverwrite, 1.0});
  double sum = 0.0;
  const at::Tensor part_gradient = at::empty_like(weight);
  const at::Tensor part_hidden = at::empty({part, 4}, at::kFloat);
  for (std::int64_t first = 0; first < kRows; first += part) {
    const GradientMode mode = first == 0 ? GradientMode::kOverwrite : GradientMode::kAccumulate;
    sum += linear_cross_entropy(hidden.narrow(0, first, part), weight, targets.narrow(0, first, part), logits,
                                {part_hidden, part_gradient, mode, 1.0});
    EXPECT_LT(distance(hidden_gradient.narrow(0, first, part), part_hidden), 1e-6);
  }
  EXPECT_NEAR(loss, sum, 1e-9 * sum);
  EXPECT_LT(distance(weight_gradient, part_gradient), 1e-6);
}

TEST(CrossEntropyExtremes, HugeLogitsGiveAFiniteLossAndNaNGivesNaN) {
  const at::Tensor logits = at::empty({2, 3}, at::kFloat).fill_(0.0);
  logits.data_ptr<float>()[0] = 3e38F;
  logits.data_ptr<float>()[1] = -3e38F;
  logits.data_ptr<float>()[4] = std::nanf("");
  const at::Tensor losses = at::empty({2}, at::kFloat);
  const at::Tensor targets = at::empty({2}, at::kInt).fill_(0);
  detail::cross_entropy_rows(logits, targets, 1.0, losses);
  EXPECT_EQ(losses.data_ptr<float>()[0], 0.0F);
  EXPECT_TRUE(std::isnan(losses.data_ptr<float>()[1]));
}

}  // namespace
}  // namespace athanor::ops
