// Arithmetic for the CPU loops of this library: 16-bit loads and stores, exp, and one loop compiled for several instruction sets.
//
// A kernel is a plain loop over contiguous memory in a function marked ATHANOR_VECTOR_CLONES; the compiler vectorises it for AVX-512, AVX2
// and the baseline, and the loader picks one. Sums use `omp simd reduction`, so their order is fixed for one instruction set.
// Source:  exp: range reduction by ln 2 and a polynomial of degree 6 on [-ln 2 / 2, ln 2 / 2], within 2 ulp.
// Threads: pure functions.
#pragma once

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <cstdint>
#include <cstring>

#include "core/base/vector_clones.h"

#define ATHANOR_INLINE inline __attribute__((always_inline))

namespace athanor::ops::lanes {

template <typename To, typename From>
ATHANOR_INLINE To bits_as(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To out;
  std::memcpy(&out, &value, sizeof(To));
  return out;
}

ATHANOR_INLINE float to_float(float value) { return value; }
ATHANOR_INLINE float to_float(at::BFloat16 value) { return bits_as<float>(std::uint32_t{value.x} << 16); }
ATHANOR_INLINE float to_float(at::Half value) { return static_cast<float>(value); }

template <typename T>
ATHANOR_INLINE T from_float(float value);
template <>
ATHANOR_INLINE float from_float<float>(float value) {
  return value;
}
// Round to nearest, ties to even; NaN stays NaN.
template <>
ATHANOR_INLINE at::BFloat16 from_float<at::BFloat16>(float value) {
  const auto bits = bits_as<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
  return {static_cast<std::uint16_t>(is_nan ? 0x7fc0U : rounded), at::BFloat16::from_bits()};
}
template <>
ATHANOR_INLINE at::Half from_float<at::Half>(float value) {
  return static_cast<at::Half>(value);
}

// exp(x); 0 below -87.3, the largest finite value's neighbourhood above 88.3, NaN for NaN.
ATHANOR_INLINE float exp(float x) {
  constexpr float kLowest = -87.3F;
  constexpr float kHighest = 88.3F;
  constexpr float kShift = 12582912.0F;  // 1.5 * 2^23: adding it leaves the nearest integer in the low bits
  const float bounded_below = x < kLowest ? kLowest : x;
  const float bounded = bounded_below > kHighest ? kHighest : bounded_below;
  const float shifted = bounded * 1.44269504088896341F + kShift;
  const float n = shifted - kShift;
  const float r = (bounded - n * 0.693359375F) + n * 2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * (r * r) + r + 1.0F;
  const std::uint32_t exponent = (bits_as<std::uint32_t>(shifted) + 127U) << 23;
  const float value = p * bits_as<float>(exponent);
  return x < kLowest ? 0.0F : value;
}

}  // namespace athanor::ops::lanes
