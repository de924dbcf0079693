// Who owns what: one row for each ZeRO stage. A stage is a row of this table, never a branch in the code that trains.
//
// Source:  Rajbhandari et al. 2020, "ZeRO"; the stages as DeepSpeed numbers them.
// Threads: immutable.
#pragma once

#include <array>
#include <cstdint>

namespace athanor::shard {

enum class Ownership {
  kReplicated,  // every rank holds the whole unit
  kSharded,     // a rank holds its slice of the unit
};

struct StagePolicy {
  int stage;
  const char* name;
  Ownership parameters;
  Ownership gradients;
  Ownership optimizer_state;  // moments and master weights
};

inline constexpr std::array<StagePolicy, 4> kStagePolicies = {{
    {0, "data parallel", Ownership::kReplicated, Ownership::kReplicated, Ownership::kReplicated},
    {1, "optimizer state sharded", Ownership::kReplicated, Ownership::kReplicated, Ownership::kSharded},
    {2, "gradients sharded", Ownership::kReplicated, Ownership::kSharded, Ownership::kSharded},
    {3, "parameters sharded", Ownership::kSharded, Ownership::kSharded, Ownership::kSharded},
}};

// Elements [begin, end) of a unit.
struct ElementRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
  bool operator==(const ElementRange&) const = default;
};

// The slice that `rank` holds of a unit of `num_elements` (a multiple of world_size): the whole unit when it is replicated.
constexpr ElementRange owned_range(Ownership ownership, std::int64_t num_elements, std::int64_t rank,
                                   std::int64_t world_size) {
  if (ownership == Ownership::kReplicated) return {0, num_elements};
  const std::int64_t slice = num_elements / world_size;
  return {rank * slice, (rank + 1) * slice};
}

}  // namespace athanor::shard
