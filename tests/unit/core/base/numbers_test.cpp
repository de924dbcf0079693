// Checksums, hashes and random numbers against published values.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "core/base/crc32c.h"
#include "core/base/hash.h"
#include "core/base/random.h"

namespace athanor::base {
namespace {

TEST(Crc32c, EqualsThePublishedCheckValue) {
  EXPECT_EQ(crc32c(0, "123456789", 9), 0xe3069283u);
  EXPECT_EQ(mask_crc32c(crc32c(0, "123456789", 9)), 0xc78ab0e5u);
}

TEST(Crc32c, ContinuesAcrossPieces) {
  const std::string text(1001, 'x');
  for (const std::size_t cut : {0u, 1u, 7u, 8u, 500u, 1001u}) {
    EXPECT_EQ(crc32c(crc32c(0, text.data(), cut), text.data() + cut, text.size() - cut),
              crc32c(0, text.data(), text.size()));
  }
}

TEST(Philox, EqualsThePublishedVectors) {
  // Random123's known-answer tests for philox4x32-10.
  EXPECT_EQ(philox4x32(0, 0, 0), (std::array<std::uint32_t, 4>{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}));
  const std::uint64_t ones = ~std::uint64_t{0};
  EXPECT_EQ(philox4x32(ones, ones, ones),
            (std::array<std::uint32_t, 4>{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}));
}

TEST(RandomStream, SameSeedSameValuesOtherStreamOthers) {
  RandomStream a(7, 1), b(7, 1), c(7, 2);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t value = a.next();
    EXPECT_EQ(value, b.next());
    differs = differs || value != c.next();
  }
  EXPECT_TRUE(differs);
}

TEST(RandomStream, BelowIsUniform) {
  RandomStream stream(1, 0);
  std::map<std::uint64_t, int> counts;
  for (int i = 0; i < 30000; ++i) ++counts[stream.below(3)];
  EXPECT_EQ(counts.size(), 3u);
  for (const auto& [value, count] : counts) EXPECT_NEAR(count, 10000, 400) << value;
}

TEST(RandomStream, NormalHasMeanZeroAndVarianceOne) {
  RandomStream stream(3, 0);
  double sum = 0, squares = 0;
  constexpr int kCount = 100000;
  for (int i = 0; i < kCount; ++i) {
    const double value = stream.normal();
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / kCount, 0.0, 0.015);
  EXPECT_NEAR(squares / kCount, 1.0, 0.02);
}

TEST(ContentHash, DependsOnEveryByteAndOnTheBorders) {
  const auto of = [](std::initializer_list<std::string_view> parts) {
    ContentHash hash;
    for (const std::string_view part : parts) hash.add(part);
    return hash.hex();
  };
  EXPECT_EQ(of({"abc"}).size(), 32u);
  EXPECT_EQ(of({"ab", "c"}), of({"ab", "c"}));
  EXPECT_NE(of({"ab", "c"}), of({"a", "bc"}));
  const std::string text(100, 'a');
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] = 'b';
    EXPECT_NE(of({text}), of({other})) << i;
  }
}

}  // namespace
}  // namespace athanor::base
