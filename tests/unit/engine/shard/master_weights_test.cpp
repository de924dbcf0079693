#include "engine/shard/master_weights.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/random.h"

namespace athanor::shard {
namespace {

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

struct Split {
  std::uint16_t copy;
  std::int16_t residual;
};
Split split_one(float value) {
  Split split;
  split_bfloat16(&value, &split.copy, &split.residual, 1);
  return split;
}
float join_one(Split split) {
  float value;
  join_bfloat16(&split.copy, &split.residual, &value, 1);
  return value;
}

TEST(BfloatResidual, GivesEveryMasterBackBitForBit) {
  // Every sign and exponent with the lower halves around rounding borders, and a sweep of random bits.
  std::vector<std::uint32_t> patterns;
  for (std::uint32_t upper = 0; upper < 0x10000u; ++upper) {
    for (const std::uint32_t lower : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      patterns.push_back(upper << 16 | lower);
  }
  base::RandomStream random(7, 1);
  for (int i = 0; i < 100000; ++i) patterns.push_back(static_cast<std::uint32_t>(random.next()));
  std::vector<float> masters;
  for (const std::uint32_t pattern : patterns) {
    const float value = std::bit_cast<float>(pattern);
    if (!std::isnan(value)) masters.push_back(value);
  }
  std::vector<std::uint16_t> copies(masters.size());
  std::vector<std::int16_t> residuals(masters.size());
  std::vector<float> back(masters.size());
  split_bfloat16(masters.data(), copies.data(), residuals.data(), masters.size());
  join_bfloat16(copies.data(), residuals.data(), back.data(), masters.size());
  for (std::size_t i = 0; i < masters.size(); ++i) ASSERT_EQ(bits_of(back[i]), bits_of(masters[i])) << masters[i];
}

TEST(BfloatResidual, TheCopyIsTheNearestAndTiesGoAwayFromZero) {
  EXPECT_EQ(split_one(1.0f).copy, 0x3f80);
  EXPECT_EQ(split_one(std::bit_cast<float>(0x3f807fffu)).copy, 0x3f80);
  EXPECT_EQ(split_one(std::bit_cast<float>(0x3f808000u)).copy, 0x3f81);
  EXPECT_EQ(split_one(std::bit_cast<float>(0xbf808000u)).copy, 0xbf81);
  EXPECT_EQ(split_one(std::numeric_limits<float>::max()).copy, 0x7f80);
  EXPECT_EQ(join_one(split_one(std::numeric_limits<float>::max())), std::numeric_limits<float>::max());
}

TEST(BfloatResidual, NaNStaysNaNInCopyAndMaster) {
  for (const std::uint32_t pattern : {0x7fffffffu, 0xffffffffu, 0x7f800001u, 0x7fc00000u}) {
    const Split split = split_one(std::bit_cast<float>(pattern));
    EXPECT_EQ(split.copy & 0x7fffu, 0x7fc0u);
    EXPECT_TRUE(std::isnan(join_one(split)));
  }
}

TEST(BfloatResidual, SmallUpdatesThatBfloatCannotHoldMoveTheMaster) {
  Split split = split_one(1.0f);
  for (int step = 0; step < 100; ++step) split = split_one(join_one(split) - 6e-4f);
  EXPECT_NEAR(join_one(split), 0.94f, 1e-5f);
}

TEST(Narrowing, RoundsTiesToEven) {
  const float values[] = {std::bit_cast<float>(0x3f808000u), std::bit_cast<float>(0x3f818000u), 65504.0f, 1e6f};
  std::uint16_t halves[4];
  narrow_bfloat16(values, halves, 4);
  EXPECT_EQ(halves[0], 0x3f80);
  EXPECT_EQ(halves[1], 0x3f82);
  narrow_float16(values, halves, 4);
  EXPECT_EQ(halves[2], 0x7bff);
  EXPECT_EQ(halves[3], 0x7c00);
  float wide[4];
  widen_float16(halves, wide, 4);
  EXPECT_EQ(wide[2], 65504.0f);
  EXPECT_TRUE(std::isinf(wide[3]));
}

}  // namespace
}  // namespace athanor::shard
