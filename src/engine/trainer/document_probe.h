// Proof at start-up that packed documents do not see each other: one document is changed, the other's logits must not move a bit.
#pragma once

#include "core/data/micro_batch.h"
#include "engine/model/model.h"

namespace athanor::trainer {

enum class ProbeResult {
  kProven,
  kNothingToProve,  // no two sequences, or logits that are not finite
  kLeak,            // a document saw another: a bug of ours
};

// Takes the first two sequences of `micro_batch`, cut short. Cost: two forward passes over at most 128 tokens.
ProbeResult probe_documents(model::Model& model, model::UnitStore& store, const data::MicroBatch& micro_batch,
                            std::int64_t vocab_size);

}  // namespace athanor::trainer
