#include <c10/util/Half.h>

#include <bit>

#include "core/base/vector_clones.h"
#include "engine/shard/master_weights.h"

namespace athanor::shard {

namespace {

constexpr std::uint32_t kInfinityBits = 0x7f800000u;
constexpr std::uint32_t kMagnitudeBits = 0x7fffffffu;
constexpr std::uint32_t kQuietBit = 0x00400000u;

inline std::uint32_t quieted(std::uint32_t bits) {
  const bool nan = (bits & kMagnitudeBits) > kInfinityBits;
  return nan ? ((bits & ~kMagnitudeBits) | kInfinityBits | kQuietBit) : bits;
}

}  // namespace

ATHANOR_VECTOR_CLONES
void split_bfloat16(const float* master, std::uint16_t* copy, std::int16_t* residual, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t bits = quieted(std::bit_cast<std::uint32_t>(master[i]));
    const std::uint32_t upper = (bits + 0x8000u) >> 16;
    copy[i] = static_cast<std::uint16_t>(upper);
    residual[i] = static_cast<std::int16_t>(static_cast<std::uint16_t>(bits));
  }
}

ATHANOR_VECTOR_CLONES
void join_bfloat16(const std::uint16_t* copy, const std::int16_t* residual, float* master, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t upper = static_cast<std::uint32_t>(copy[i]) << 16;
    master[i] = std::bit_cast<float>(upper + static_cast<std::uint32_t>(static_cast<std::int32_t>(residual[i])));
  }
}

ATHANOR_VECTOR_CLONES
void widen_bfloat16(const std::uint16_t* from, float* to, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) to[i] = std::bit_cast<float>(static_cast<std::uint32_t>(from[i]) << 16);
}

ATHANOR_VECTOR_CLONES
void narrow_bfloat16(const float* from, std::uint16_t* to, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t bits = quieted(std::bit_cast<std::uint32_t>(from[i]));
    to[i] = static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
  }
}

void widen_float16(const std::uint16_t* from, float* to, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) to[i] = c10::detail::fp16_ieee_to_fp32_value(from[i]);
}

void narrow_float16(const float* from, std::uint16_t* to, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) to[i] = c10::detail::fp16_ieee_from_fp32_value(from[i]);
}

}  // namespace athanor::shard
