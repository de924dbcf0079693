#include "engine/ops/lanes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace athanor::ops::lanes {
namespace {

TEST(Exp, IsWithinTwoUlpOfTheTrueValue) {
  for (float x = -87.0F; x < 88.0F; x += 0.00137F) {
    const double expected = std::exp(static_cast<double>(x));
    EXPECT_NEAR(exp(x) / expected, 1.0, 2.4e-7) << x;
  }
}

TEST(Exp, EndsInZeroStaysFiniteAndKeepsNaN) {
  EXPECT_EQ(exp(0.0F), 1.0F);
  EXPECT_EQ(exp(-88.0F), 0.0F);
  EXPECT_EQ(exp(-std::numeric_limits<float>::infinity()), 0.0F);
  EXPECT_TRUE(std::isfinite(exp(1e6F)));
  EXPECT_GT(exp(1e6F), 2e38F);
  EXPECT_TRUE(std::isnan(exp(std::nanf(""))));
}

TEST(BFloat16, RoundsToNearestEvenAndKeepsNaNAndInfinity) {
  for (std::uint32_t bits = 0; bits < 0xffff0000U; bits += 0x137b5U) {
    const auto value = bits_as<float>(bits);
    const at::BFloat16 rounded = from_float<at::BFloat16>(value);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(rounded)));
    } else {
      EXPECT_EQ(rounded.x, at::BFloat16(value).x) << value;
      EXPECT_EQ(to_float(rounded), static_cast<float>(rounded));
    }
  }
  EXPECT_TRUE(std::isnan(to_float(from_float<at::BFloat16>(bits_as<float>(0x7fffffffU)))));
  EXPECT_TRUE(std::isinf(to_float(from_float<at::BFloat16>(std::numeric_limits<float>::infinity()))));
}

}  // namespace
}  // namespace athanor::ops::lanes
