#include "core/data/order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace athanor::data {
namespace {

using ::testing::ElementsAre;
using Order = std::vector<std::int64_t>;

bool is_permutation_of(const Order& order, std::int64_t n) {
  Order sorted = order;
  std::sort(sorted.begin(), sorted.end());
  Order expected(static_cast<std::size_t>(n));
  std::iota(expected.begin(), expected.end(), 0);
  return sorted == expected;
}

TEST(RandomOrder, HoldsEachRowOnce) {
  for (std::int64_t n = 0; n <= 70; ++n) EXPECT_TRUE(is_permutation_of(random_order(n, 42, 3), n)) << n;
}

TEST(RandomOrder, IsTheSameForTheSameSeedAndEpoch) { EXPECT_EQ(random_order(100, 42, 3), random_order(100, 42, 3)); }

TEST(RandomOrder, DiffersBetweenEpochsAndSeeds) {
  std::vector<Order> orders;
  for (const std::int64_t seed : {0, 1, 42}) {
    for (std::int64_t epoch = 0; epoch < 4; ++epoch) orders.push_back(random_order(64, seed, epoch));
  }
  std::sort(orders.begin(), orders.end());
  EXPECT_EQ(std::adjacent_find(orders.begin(), orders.end()), orders.end());
}

TEST(RandomOrder, PutsEachRowAtEachPlaceAboutEquallyOften) {
  constexpr std::int64_t kRows = 4;
  constexpr int kOrders = 4000;
  std::vector<std::vector<int>> counts(kRows, std::vector<int>(kRows, 0));
  for (int epoch = 0; epoch < kOrders; ++epoch) {
    const Order order = random_order(kRows, 5, epoch);
    for (std::size_t place = 0; place < order.size(); ++place) ++counts[place][static_cast<std::size_t>(order[place])];
  }
  // 1000 expected, standard deviation 27.
  for (const std::vector<int>& at_place : counts) {
    for (const int count : at_place) EXPECT_NEAR(count, 1000, 140);
  }
}

// Checkpoints hold a position only: a run that is resumed by a later build must see the same order.
TEST(RandomOrder, IsFrozen) {
  EXPECT_THAT(random_order(8, 42, 0), ElementsAre(2, 6, 4, 1, 0, 7, 5, 3));
  EXPECT_THAT(random_order(8, 42, 1), ElementsAre(2, 6, 0, 5, 4, 7, 3, 1));
}

std::int64_t length_of(std::int64_t row) { return 1 + (row * 37) % 101; }

Order grouped(std::int64_t n, std::int64_t micro, std::int64_t epoch = 0) {
  return length_grouped_order(n, micro, length_of, 42, epoch);
}

TEST(LengthGroupedOrder, HoldsEachRowOnce) {
  for (std::int64_t n = 0; n <= 70; ++n) {
    for (const std::int64_t micro : {1, 3, 8, 100}) EXPECT_TRUE(is_permutation_of(grouped(n, micro), n)) << n;
  }
}

TEST(LengthGroupedOrder, BeginsWithTheLongestRow) {
  for (const std::int64_t n : {1, 2, 10, 100, 1000}) {
    std::int64_t longest = 0;
    for (std::int64_t row = 0; row < n; ++row) longest = std::max(longest, length_of(row));
    EXPECT_EQ(length_of(grouped(n, 4).front()), longest) << n;
  }
}

TEST(LengthGroupedOrder, GroupsFallInLength) {
  constexpr std::int64_t kRows = 400, kMicro = 4;
  const Order order = grouped(kRows, kMicro);
  // 400 / (4 x 4) = 25 micro-batches to a group of 100 rows; the first of each group but one may have been exchanged.
  for (std::size_t begin = 0; begin < order.size(); begin += 100) {
    for (std::size_t i = begin + 2; i < begin + 100; ++i) EXPECT_GE(length_of(order[i - 1]), length_of(order[i])) << i;
  }
}

TEST(LengthGroupedOrder, PadsLessThanARandomOrder) {
  constexpr std::int64_t kRows = 400, kMicro = 4;
  const auto padded = [](const Order& order) {
    std::int64_t total = 0;
    for (std::size_t begin = 0; begin < order.size(); begin += kMicro) {
      std::int64_t longest = 0;
      for (std::size_t i = begin; i < begin + kMicro; ++i) longest = std::max(longest, length_of(order[i]));
      total += longest * kMicro;
    }
    return total;
  };
  std::int64_t tokens = 0;
  for (std::int64_t row = 0; row < kRows; ++row) tokens += length_of(row);
  EXPECT_LT(padded(grouped(kRows, kMicro)) - tokens, (padded(random_order(kRows, 42, 0)) - tokens) / 5);
}

TEST(LengthGroupedOrder, DiffersBetweenEpochs) { EXPECT_NE(grouped(100, 4, 0), grouped(100, 4, 1)); }

}  // namespace
}  // namespace athanor::data
