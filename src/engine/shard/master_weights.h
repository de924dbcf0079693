// How an fp32 master weight is kept beside its 16-bit compute copy, and the conversions between them. Plain loops over arrays.
//
// Note [bf16 residual]
// A bf16 number is the upper half of an fp32 one, so copy and master share 16 bits. We keep what the copy lacks:
//     fp32 bits = (bf16 bits << 16) + residual,  residual in [-32768, 32767] as int16
// The copy is the nearest bf16 number; a tie goes away from zero, because with ties to even the residual would need one more
// value than int16 has. Master and copy take 4 bytes a parameter instead of 6, and the pair gives the master back bit for bit.
// A NaN becomes the quiet NaN of its sign, so that rounding cannot carry one into zero.
//
// Threads: pure. Arrays of one call do not overlap, unless they are the same fp32 array.
#pragma once

#include <cstddef>
#include <cstdint>

namespace athanor::shard {

void split_bfloat16(const float* master, std::uint16_t* copy, std::int16_t* residual, std::size_t n);
void join_bfloat16(const std::uint16_t* copy, const std::int16_t* residual, float* master, std::size_t n);

void widen_bfloat16(const std::uint16_t* from, float* to, std::size_t n);
void widen_float16(const std::uint16_t* from, float* to, std::size_t n);
// Nearest, ties to even; beyond the range of fp16 infinity.
void narrow_float16(const float* from, std::uint16_t* to, std::size_t n);
// Nearest, ties to even (what other programs write).
void narrow_bfloat16(const float* from, std::uint16_t* to, std::size_t n);

}  // namespace athanor::shard
