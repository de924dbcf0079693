// The merge rules of byte-pair encoding, found by the ids of the pair.
//
// Layout:  open addressing over 8-byte slots (left 21 bits, right 21 bits, rank 22 bits), so that a failed look-up, the usual
//          case, touches one cache line.
// Threads: immutable after the last add().
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/formats/bpe_vocabulary.h"
#include "core/formats/byte_hash.h"

namespace athanor::formats {

class MergeTable {
 public:
  static constexpr std::uint32_t kNoRule = 0xffffffff;
  static constexpr std::uint32_t kMaxRules = (1u << 22) - 1;

  void reserve(std::size_t num_rules) {
    slots_.assign(std::bit_ceil(num_rules * 2 + 2), kEmpty);
    shift_ = 64 - std::countr_zero(slots_.size());
    merged_.reserve(num_rules);
  }

  // The next rule in rank order, of at most reserve()d ones; false when the pair has one already (which then keeps its rank).
  bool add(std::int32_t left, std::int32_t right, std::int32_t merged) {
    const auto rank = static_cast<std::uint32_t>(merged_.size());
    merged_.push_back(merged);
    const std::uint64_t key = key_of(left, right);
    std::size_t slot = slot_of(key);
    for (; slots_[slot] != kEmpty; slot = (slot + 1) & (slots_.size() - 1)) {
      if (slots_[slot] >> kRankBits == key) return false;
    }
    slots_[slot] = key << kRankBits | rank;
    return true;
  }

  // The rank of the rule for (left, right), or kNoRule.
  std::uint32_t rank(std::int32_t left, std::int32_t right) const {
    const std::uint64_t key = key_of(left, right);
    for (std::size_t slot = slot_of(key);; slot = (slot + 1) & (slots_.size() - 1)) {
      const std::uint64_t found = slots_[slot];
      if (found >> kRankBits == key) return static_cast<std::uint32_t>(found & kMaxRules);
      if (found == kEmpty) return kNoRule;
    }
  }

  std::int32_t merged(std::uint32_t rank) const { return merged_[rank]; }
  std::size_t size() const { return merged_.size(); }

 private:
  static constexpr int kRankBits = 22;
  static constexpr int kIdBits = 21;
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};  // no id is 2^21 - 1 (BpeVocabulary::kMaxId)

  static std::uint64_t key_of(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint64_t>(left) << kIdBits | static_cast<std::uint64_t>(right);
  }
  std::size_t slot_of(std::uint64_t key) const {
    const std::uint64_t mixed = (key ^ (key >> kIdBits)) * 0x9e3779b97f4a7c15u;
    return static_cast<std::size_t>((mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9u >> shift_);
  }

  std::vector<std::uint64_t> slots_ = {kEmpty, kEmpty};
  int shift_ = 63;
  std::vector<std::int32_t> merged_;  // by rank
};

}  // namespace athanor::formats
