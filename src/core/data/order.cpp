#include "core/data/order.h"

#include <algorithm>
#include <numeric>

#include "core/base/random.h"

namespace athanor::data {

std::vector<std::int64_t> random_order(std::int64_t n, std::int64_t seed, std::int64_t epoch) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  base::RandomStream random(static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(epoch));
  for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random.below(left)]);
  return order;
}

std::vector<std::int64_t> length_grouped_order(std::int64_t n, std::int64_t micro_batch_size,
                                               const std::function<std::int64_t(std::int64_t)>& length,
                                               std::int64_t seed, std::int64_t epoch) {
  // As many micro-batches per group as leave at least four groups, 50 at most.
  constexpr std::int64_t kMostBatchesPerGroup = 50;
  constexpr std::int64_t kFewestGroups = 4;
  const std::int64_t batches_per_group =
      std::clamp<std::int64_t>(n / (micro_batch_size * kFewestGroups), 1, kMostBatchesPerGroup);
  const std::int64_t group_rows = batches_per_group * micro_batch_size;
  std::vector<std::int64_t> order = random_order(n, seed, epoch);
  for (std::int64_t begin = 0; begin < n; begin += group_rows) {
    const auto end = order.begin() + std::min(n, begin + group_rows);
    std::stable_sort(order.begin() + begin, end, [&](std::int64_t a, std::int64_t b) { return length(a) > length(b); });
  }
  // The longest row heads one of the groups; it changes places with the first row of all.
  std::int64_t longest = 0;
  for (std::int64_t begin = 0; begin < n; begin += group_rows) {
    if (length(order[static_cast<std::size_t>(begin)]) > length(order[static_cast<std::size_t>(longest)]))
      longest = begin;
  }
  if (n > 0) std::swap(order.front(), order[static_cast<std::size_t>(longest)]);
  return order;
}

}  // namespace athanor::data
