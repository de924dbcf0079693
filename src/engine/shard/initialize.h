// Weights from a seed, as Hugging Face initialises a new model: matrices N(0, initializer_range), biases 0, norms 1, and the
// padding token's embedding row 0.
//
// A value depends on (seed, parameter name, index) alone, so any layout and any number of ranks give the same model.
// Threads: confined to the training thread; runs in parallel inside.
#pragma once

#include <cstdint>
#include <span>

#include "core/architecture/model_config.h"
#include "engine/shard/flat_store.h"

namespace athanor::shard {

void initialize_weights(FlatStore& store, const architecture::ModelConfig& config, std::uint64_t seed);

// Standard normal numbers `first`, `first + 1`, ... of the stream. `first` is a multiple of 4.
//
// Source: Box & Muller 1958 on Philox words; logarithm and sine by their series to fp32 accuracy, so that every machine gives the
// same bits whatever its mathematics library.
void fill_normal(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, std::span<float> values);

}  // namespace athanor::shard
