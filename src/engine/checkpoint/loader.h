// Weights and optimizer state from files into the buffers of a run.
//
// Types:   weights in F32, BF16 or F16, whatever the store computes in; every one becomes an fp32 master.
// Fails:   UserError, naming the tensor: not finite, missing, of another shape. The store is then partly written.
// Threads: confined to the training thread; parallel inside.
#pragma once

#include <string>

#include "core/architecture/model_folder.h"
#include "engine/checkpoint/manifest.h"
#include "engine/optim/optimizer.h"
#include "engine/shard/flat_store.h"

namespace athanor::checkpoint {

// Fills the store from a Hugging Face folder's weights. `where` is the folder for messages.
void load_weights(shard::FlatStore& store, const architecture::ModelWeights& weights, const std::string& where);

// Fills store and optimizer from a checkpoint whose manifest holds. The fp32 masters are exactly those that were saved.
void load_checkpoint(const std::string& folder, const Manifest& manifest, shard::FlatStore& store,
                     optim::Optimizer& optimizer);

// Throws UserError naming the first parameter in which the weights of `folder` and the store's model differ, or the optimizer.
void check_same_model(const std::string& folder, const Manifest& manifest, const shard::FlatStore& store,
                      const optim::Optimizer& optimizer);

}  // namespace athanor::checkpoint
