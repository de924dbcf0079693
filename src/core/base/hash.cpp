#include "core/base/hash.h"

#include <fmt/format.h>

#include <cstring>

namespace athanor::base {

namespace {

std::uint64_t mix(std::uint64_t value) {
  // The finaliser of SplitMix64: every input bit reaches every output bit.
  value ^= value >> 30;
  value *= 0xbf58476d1ce4e5b9u;
  value ^= value >> 27;
  value *= 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

std::uint64_t rotate_left(std::uint64_t value, int bits) { return (value << bits) | (value >> (64 - bits)); }

}  // namespace

ContentHash& ContentHash::add(const void* data, std::size_t num_bytes) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  length_ += num_bytes;
  while (num_bytes > 0) {
    std::uint64_t word = 0;
    const std::size_t take = num_bytes < 8 ? num_bytes : 8;
    std::memcpy(&word, bytes, take);
    a_ = rotate_left(a_ ^ (word * 0x9e3779b185ebca87u), 31) * 0xc2b2ae3d27d4eb4fu;
    b_ = rotate_left(b_ + (word ^ a_), 27) * 0x165667b19e3779f9u + 0x27d4eb2f165667c5u;
    bytes += take;
    num_bytes -= take;
  }
  return *this;
}

ContentHash& ContentHash::add(std::string_view text) {
  add(static_cast<std::uint64_t>(text.size()));
  return add(text.data(), text.size());
}

ContentHash& ContentHash::add(std::uint64_t value) { return add(&value, sizeof value); }

std::uint64_t ContentHash::value64() const { return mix(a_ ^ mix(b_ + length_)); }

std::string ContentHash::hex() const {
  return fmt::format("{:016x}{:016x}", value64(), mix(b_ ^ mix(a_ + length_ + 1)));
}

}  // namespace athanor::base
