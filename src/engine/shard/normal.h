// Standard normal numbers as a pure function of (seed, stream, index).
//
// Source: Box & Muller 1958 on Philox words; logarithm and sine by their series to fp32 accuracy, so that every machine gives the
// same bits whatever its mathematics library.
#pragma once

#include <cstdint>
#include <span>

namespace athanor::shard {

// Numbers `first`, `first + 1`, ... of the stream. `first` is a multiple of 4.
void fill_normal(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, std::span<float> values);

}  // namespace athanor::shard
