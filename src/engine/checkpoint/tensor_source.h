// The tensors of a save, each with a way to produce its bytes, so that no tensor is held a second time while it is written.
//
// Note [Weights and master in a checkpoint]
// The weight file is what any Hugging Face program loads, in fp32 or 16 bit. Resuming needs the exact fp32 master, so the
// optimizer file holds what the weight file lacks: nothing beside F32, the int16 residual beside BF16 (shard/master_weights.h),
// the whole master beside F16.
//
// Owns:    a source refers to the store and the optimizer it was made from. Threads: confined to the training thread.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/formats/safetensors_writer.h"
#include "engine/optim/optimizer.h"
#include "engine/shard/flat_store.h"

namespace athanor::checkpoint {

using ByteSink = std::function<void(std::span<const std::byte>)>;

struct TensorSource {
  formats::TensorPlan plan;
  std::function<void(const ByteSink&)> emit;  // the bytes, in order
};

// kTiesAway is the copy whose residual is the rest of the master; kTiesToEven is what other programs write.
enum class BfloatRounding { kTiesAway, kTiesToEven };

// Every parameter under its Hugging Face name, in list_units order. `type` is F32, BF16 or F16.
std::vector<TensorSource> weight_sources(const shard::FlatStore& store, formats::Dtype type, BfloatRounding rounding);

// "<parameter>.exp_avg" and so on, and "<parameter>.master_residual" or "<parameter>.master".
std::vector<TensorSource> optimizer_sources(const shard::FlatStore& store, const optim::Optimizer& optimizer,
                                            formats::Dtype weight_type);

std::string optimizer_kind_name(config::OptimizerKind kind);

}  // namespace athanor::checkpoint
