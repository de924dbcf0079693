// The ids of short pieces of text seen before: most words of a text are ones it had already.
//
// Layout:  two entries share a cache line and one place; the older one of them is forgotten.
// Memory:  1 MB, made when the first pieces are stored. Threads: confined to one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/formats/byte_hash.h"

namespace athanor::formats {

class WordCache {
 public:
  static constexpr std::size_t kMaxBytes = 16;
  static constexpr std::size_t kMaxIds = 3;

  struct Entry {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    std::array<std::int32_t, kMaxIds> ids{};
    std::uint8_t num_bytes = 0;  // 0: empty
    std::uint8_t num_ids = 0;

    bool holds(const Entry& key) const {
      return first == key.first && second == key.second && num_bytes == key.num_bytes;
    }
  };
  static_assert(sizeof(Entry) == 32);

  // The key of a piece of 1 to kMaxBytes bytes; `text_end` is the end of readable memory behind it.
  static Entry key_of(std::string_view piece, const char* text_end) {
    Entry key;
    const std::size_t size = piece.size();
    key.num_bytes = static_cast<std::uint8_t>(size);
    if (size >= sizeof(std::uint64_t)) {
      std::memcpy(&key.first, piece.data(), sizeof(std::uint64_t));
      std::memcpy(&key.second, piece.data() + size - sizeof(std::uint64_t), sizeof(std::uint64_t));
    } else if (piece.data() + sizeof(std::uint64_t) <= text_end) {
      std::memcpy(&key.first, piece.data(), sizeof(std::uint64_t));
      key.first &= ~std::uint64_t{0} >> (64 - 8 * size);
    } else {
      std::memcpy(&key.first, piece.data(), size);
    }
    return key;
  }

  // The entry of a key, or nullptr.
  const Entry* find(const Entry& key) const {
    if (entries_.empty()) return nullptr;
    const std::size_t place = place_of(key);
    if (entries_[place].holds(key)) return &entries_[place];
    if (entries_[place + 1].holds(key)) return &entries_[place + 1];
    return nullptr;
  }

  // Remembers ids of a key that find() did not know; more than kMaxIds are not kept.
  void store(Entry key, std::span<const std::int32_t> ids) {
    if (ids.size() > kMaxIds) return;
    if (entries_.empty()) entries_.resize(kNumEntries);
    for (std::size_t i = 0; i < ids.size(); ++i) key.ids[i] = ids[i];
    key.num_ids = static_cast<std::uint8_t>(ids.size());
    const std::size_t place = place_of(key);
    entries_[place + 1] = entries_[place];
    entries_[place] = key;
  }

 private:
  static constexpr std::size_t kNumEntries = 1 << 15;

  static std::size_t place_of(const Entry& key) {
    return static_cast<std::size_t>(mix_words(key.first + key.num_bytes, key.second)) & (kNumEntries - 2);
  }

  std::vector<Entry> entries_;
};

}  // namespace athanor::formats
