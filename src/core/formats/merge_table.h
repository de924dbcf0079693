// The merge rules of byte-pair encoding, found by the ids of the pair.
//
// Layout:  open addressing over 8-byte slots (left 21 bits, right 21 bits, rank 22 bits). Most pairs have no rule: a bit array
//          that stays in the processor's cache answers for nine in ten of them.
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
    filter_.assign(slots_.size() * kFilterBitsPerSlot / 64 + 1, 0);
    merged_.reserve(num_rules);
  }

  // The next rule in rank order, of at most reserve()d ones; false when the pair has one already (which then keeps its rank).
  bool add(std::int32_t left, std::int32_t right, std::int32_t merged) {
    const auto rank = static_cast<std::uint32_t>(merged_.size());
    if (rank == 0) offset_ = merged;
    is_consecutive_ = is_consecutive_ && merged == offset_ + static_cast<std::int32_t>(rank);
    merged_.push_back(merged);
    const std::uint64_t key = key_of(left, right);
    const std::uint64_t mixed = mix(key);
    const std::size_t bit = filter_bit(mixed);
    filter_[bit / 64] |= std::uint64_t{1} << bit % 64;
    std::size_t slot = slot_of(mixed);
    for (; slots_[slot] != kEmpty; slot = (slot + 1) & (slots_.size() - 1)) {
      if (slots_[slot] >> kRankBits == key) return false;
    }
    slots_[slot] = key << kRankBits | rank;
    return true;
  }

  // The rank of the rule for (left, right), or kNoRule.
  std::uint32_t rank(std::int32_t left, std::int32_t right) const {
    const std::uint64_t key = key_of(left, right);
    const std::uint64_t mixed = mix(key);
    const std::size_t bit = filter_bit(mixed);
    if ((filter_[bit / 64] >> bit % 64 & 1) == 0) return kNoRule;
    for (std::size_t slot = slot_of(mixed);; slot = (slot + 1) & (slots_.size() - 1)) {
      const std::uint64_t found = slots_[slot];
      if (found >> kRankBits == key) return static_cast<std::uint32_t>(found & kMaxRules);
      if (found == kEmpty) return kNoRule;
    }
  }

  // Calls visit(left, right, rank) for every rule, in no order.
  template <typename Visit>
  void for_each(Visit visit) const {
    constexpr std::uint64_t kIdMask = (1u << kIdBits) - 1;
    for (const std::uint64_t slot : slots_) {
      if (slot == kEmpty) continue;
      const std::uint64_t key = slot >> kRankBits;
      visit(static_cast<std::int32_t>(key >> kIdBits), static_cast<std::int32_t>(key & kIdMask),
            static_cast<std::uint32_t>(slot & kMaxRules));
    }
  }

  // The token that a rule makes.
  std::int32_t merged(std::uint32_t rank) const {
    return is_consecutive_ ? offset_ + static_cast<std::int32_t>(rank) : merged_[rank];
  }
  std::size_t size() const { return merged_.size(); }

 private:
  static constexpr int kRankBits = 22;
  static constexpr int kIdBits = 21;
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};  // no id is 2^21 - 1 (BpeVocabulary::kMaxId)

  static std::uint64_t key_of(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint64_t>(left) << kIdBits | static_cast<std::uint64_t>(right);
  }
  static std::uint64_t mix(std::uint64_t key) {
    const std::uint64_t mixed = (key ^ (key >> kIdBits)) * 0x9e3779b97f4a7c15u;
    return (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9u;
  }
  std::size_t slot_of(std::uint64_t mixed) const { return static_cast<std::size_t>(mixed >> shift_); }
  std::size_t filter_bit(std::uint64_t mixed) const {
    return static_cast<std::size_t>(mixed >> (shift_ - kFilterShift));
  }

  static constexpr int kFilterShift = 2;
  static constexpr std::size_t kFilterBitsPerSlot = 1 << kFilterShift;

  std::vector<std::uint64_t> slots_ = {kEmpty, kEmpty};
  int shift_ = 63;
  std::vector<std::uint64_t> filter_ = {0};
  std::vector<std::int32_t> merged_;  // by rank
  bool is_consecutive_ = true;        // token of rank r is offset_ + r, as training makes them
  std::int32_t offset_ = 0;
};

}  // namespace athanor::formats
