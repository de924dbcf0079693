// The order of rows in an epoch: a pure function of seed and epoch, so that a position is all a checkpoint has to keep.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/config/run_config.h"

namespace athanor::data {

// A random permutation of 0..n-1 (Fisher-Yates over Philox, stream = epoch).
std::vector<std::int64_t> random_order(std::int64_t n, std::int64_t seed, std::int64_t epoch);

// Rows of similar length next to each other: a random order cut into groups of up to 50 micro-batches, each sorted by falling length,
// and the longest row of all first, so that memory is highest at the start (transformers' LengthGroupedSampler).
std::vector<std::int64_t> length_grouped_order(std::int64_t n, std::int64_t micro_batch_size,
                                               const std::function<std::int64_t(std::int64_t)>& length,
                                               std::int64_t seed, std::int64_t epoch);

}  // namespace athanor::data
