// Where a non-finite loss or gradient came from: evidence for a person, found by computing again.
//
// A loss that is not finite before any scaling cannot be helped by a lower loss scale; gradients alone may be. The first bad layer
// is found by running the model cut off after ever fewer layers.
// Cost: a forward pass of the whole model, and some of parts of it. Threads: confined to the training thread.
#pragma once

#include <span>
#include <string>

#include "core/architecture/model_config.h"
#include "core/data/micro_batch.h"
#include "engine/model/model.h"
#include "engine/optim/gradient_norm.h"
#include "engine/shard/flat_store.h"

namespace athanor::trainer {

enum class NonFiniteOrigin { kWeights, kForward, kBackward };

struct NonFiniteEvidence {
  NonFiniteOrigin origin = NonFiniteOrigin::kBackward;
  std::string place;     // "model.layers.3.mlp.up_proj.weight", "the output of layers.3"
  std::string sentence;  // for a person
};

NonFiniteEvidence find_non_finite(const architecture::ModelConfig& config, const model::ModelOptions& options,
                                  shard::FlatStore& store, std::span<const data::MicroBatch> global_batch,
                                  const optim::GradientNorms& norms);

}  // namespace athanor::trainer
