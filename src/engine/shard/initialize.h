// Weights from a seed, as Hugging Face initialises a new model: matrices N(0, initializer_range), biases 0, norms 1, and the
// padding token's embedding row 0.
//
// A value depends on (seed, parameter name, index) alone, so any layout and any number of ranks give the same model.
// Threads: confined to the training thread; runs in parallel inside.
#pragma once

#include <cstdint>

#include "core/architecture/model_config.h"
#include "engine/shard/flat_store.h"

namespace athanor::shard {

void initialize_weights(FlatStore& store, const architecture::ModelConfig& config, std::uint64_t seed);

}  // namespace athanor::shard
