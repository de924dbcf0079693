// A hash of short byte strings for tables in memory; never written to disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace athanor::formats {

__extension__ typedef unsigned __int128 Product;

inline std::uint64_t mix_words(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<Product>(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xd1b54a32d192ed03u);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline std::uint64_t hash_bytes(std::string_view bytes) {
  std::uint64_t hash = bytes.size();
  const char* p = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; p += 8, left -= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, p, 8);
    hash = mix_words(hash, word);
  }
  if (left > 0) {
    std::uint64_t word = 0;
    std::memcpy(&word, p, left);
    hash = mix_words(hash, word);
  }
  return hash;
}

}  // namespace athanor::formats
