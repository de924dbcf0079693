#include "engine/trainer/sampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace athanor::trainer {
namespace {

// Probabilities 0.5, 0.3, 0.2.
const std::vector<float> kLogits = {std::log(0.2f), std::log(0.5f), std::log(0.3f)};

TEST(SampleToken, IsGreedyWithoutTemperature) {
  EXPECT_EQ(sample_token(kLogits, {}, 0.99), 1);
  EXPECT_EQ(sample_token(std::vector<float>{1.0f, 2.0f, 2.0f}, {}, 0.5), 1) << "the first of equals";
}

TEST(SampleToken, TakesTheTokenThatTheUniformNumberFallsOn) {
  const SamplingOptions options{.temperature = 1.0};
  EXPECT_EQ(sample_token(kLogits, options, 0.0), 1);
  EXPECT_EQ(sample_token(kLogits, options, 0.49), 1);
  EXPECT_EQ(sample_token(kLogits, options, 0.51), 2);
  EXPECT_EQ(sample_token(kLogits, options, 0.81), 0);
  EXPECT_EQ(sample_token(kLogits, options, 0.999999), 0);
}

TEST(SampleToken, TemperatureSharpens) {
  // Squared and normalised: 0.66, 0.24, 0.11.
  const SamplingOptions options{.temperature = 0.5};
  EXPECT_EQ(sample_token(kLogits, options, 0.65), 1);
  EXPECT_EQ(sample_token(kLogits, options, 0.67), 2);
}

TEST(SampleToken, NucleusKeepsTheFewestTokensThatReachTopP) {
  EXPECT_EQ(sample_token(kLogits, {.temperature = 1.0, .top_p = 0.4}, 0.99), 1);
  EXPECT_EQ(sample_token(kLogits, {.temperature = 1.0, .top_p = 0.6}, 0.99), 2);
  EXPECT_EQ(sample_token(kLogits, {.temperature = 1.0, .top_p = 0.9}, 0.99), 0);
  EXPECT_EQ(sample_token(kLogits, {.temperature = 1.0, .top_p = 1e-9}, 0.99), 1) << "at least one";
}

}  // namespace
}  // namespace athanor::trainer
