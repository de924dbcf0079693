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
  const char* p = bytes.data();
  const std::size_t size = bytes.size();
  const auto word_at = [p](std::size_t offset) {
    std::uint64_t word = 0;
    std::memcpy(&word, p + offset, sizeof(word));
    return word;
  };
  if (size < 8) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < size; ++i) word = word << 8 | static_cast<unsigned char>(p[i]);
    return mix_words(word, size);
  }
  std::uint64_t hash = size;
  for (std::size_t i = 0; i + 8 < size; i += 8) hash = mix_words(hash, word_at(i));
  return mix_words(hash, word_at(size - 8));  // may overlap the word before
}

}  // namespace athanor::formats
