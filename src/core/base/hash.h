// A 128-bit content hash for cache keys and fingerprints (xxHash-style mixing of two 64-bit lanes; not cryptographic).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace athanor::base {

class ContentHash {
 public:
  explicit ContentHash(std::uint64_t seed = 0) : a_(seed ^ 0x9e3779b97f4a7c15u), b_(seed ^ 0xc2b2ae3d27d4eb4fu) {}

  ContentHash& add(const void* data, std::size_t num_bytes);
  ContentHash& add(std::string_view text);  // length first, so that ("ab","c") differs from ("a","bc")
  ContentHash& add(std::uint64_t value);
  // 32 lower-case hexadecimal digits.
  std::string hex() const;
  std::uint64_t value64() const;

 private:
  std::uint64_t a_;
  std::uint64_t b_;
  std::uint64_t length_ = 0;
};

}  // namespace athanor::base
