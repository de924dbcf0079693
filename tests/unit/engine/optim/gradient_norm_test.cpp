#include "engine/optim/gradient_norm.h"

#include <ATen/Parallel.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/schedule/clipping.h"

namespace athanor::optim {
namespace {

std::vector<architecture::UnitSpec> units() {
  return {{"embedding", {{"a.weight", {2}}}}, {"head", {{"b.weight", {300, 700}}, {"c.bias", {1}}}}};
}

TEST(GradientNorm, IsTheNormOverAllUnitsBeforeClipping) {
  shard::FlatStore store(units(), {});
  store.gradients(0)[0][0] = 3.0;
  store.gradients(1)[1][0] = 4.0;
  const GradientNorms norms = gradient_norms(store, 1.0);
  EXPECT_EQ(norms.total, 5.0);
  EXPECT_EQ(norms.by_parameter, (std::vector<double>{3.0, 0.0, 4.0}));
  EXPECT_TRUE(norms.finite());
  EXPECT_NEAR(norms.total * schedule::clip_coefficient(norms.total, 1.0), 1.0, 1e-6);
  EXPECT_EQ(schedule::clip_coefficient(norms.total, 0.0), 1.0);
  EXPECT_EQ(schedule::clip_coefficient(0.5, 1.0), 1.0);
}

TEST(GradientNorm, AgreesWithADoublePrecisionSumInEveryType) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    shard::FlatStore store(units(), {.compute_type = type, .gradient_type = type});
    for (std::size_t u = 0; u < 2; ++u) {
      for (const at::Tensor& gradient : store.gradients(u)) gradient.copy_(at::randn(gradient.sizes()));
    }
    const double expected = std::sqrt(store.gradient(0).to(at::kDouble).square().sum().item<double>() +
                                      store.gradient(1).to(at::kDouble).square().sum().item<double>());
    EXPECT_NEAR(gradient_norms(store, 0.25).total, 0.25 * expected, 1e-12 * expected);
  }
}

TEST(GradientNorm, HasTheSameBitsWithAnyNumberOfThreads) {
  shard::FlatStore store(units(), {});
  for (const at::Tensor& gradient : store.gradients(1)) gradient.copy_(at::randn(gradient.sizes()));
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const double alone = gradient_norms(store, 1.0).total;
  at::set_num_threads(2);
  EXPECT_EQ(gradient_norms(store, 1.0).total, alone);
  at::set_num_threads(threads);
}

TEST(GradientNorm, NamesWhereTheFirstNonFiniteValueOfBackwardIs) {
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    shard::FlatStore store(units(), {});
    store.gradients(0)[0][1] = bad;
    store.gradients(1)[0][299][699] = bad;
    const GradientNorms norms = gradient_norms(store, 1.0);
    EXPECT_FALSE(norms.finite());
    EXPECT_EQ(norms.last_non_finite, 1u);
    EXPECT_FALSE(std::isfinite(norms.total));
  }
}

}  // namespace
}  // namespace athanor::optim
