// One optimizer step: the algorithm, with everything it works on passed in.
//
// Note [Loss is a sum]
// The loss of a step is the sum of the token losses over the whole global batch divided by the number of its target tokens. Each
// micro-batch's backward is weighted by 1 / that number, so accumulation, padding and row lengths cannot skew the average; a
// micro-batch without a target adds nothing, and a global batch without one is not a step of the optimizer at all.
//
// Threads: confined to the training thread.
#pragma once

#include <optional>
#include <span>

#include "core/config/run_config.h"
#include "core/data/micro_batch.h"
#include "core/schedule/learning_rate.h"
#include "engine/model/model.h"
#include "engine/optim/gradient_norm.h"
#include "engine/optim/optimizer.h"
#include "engine/shard/flat_store.h"
#include "engine/trainer/step_decision.h"

namespace athanor::trainer {

struct StepParts {
  model::Model& model;
  shard::FlatStore& store;
  optim::Optimizer& optimizer;
  const schedule::LearningRateSchedule& schedule;
  config::PrecisionConfig precision;
  config::ClippingConfig clipping;
};

struct StepInput {
  std::span<const data::MicroBatch> global_batch;
  schedule::ScalerState scaler;
  std::uint64_t first_micro_batch = 0;                 // its number over the whole run
  std::optional<double> learning_rate = std::nullopt;  // in place of the schedule's, where evaluations decide it
};

struct StepResult {
  StepDecision decision;
  double loss = 0.0;  // mean over the target tokens
  std::int64_t num_targets = 0;
  optim::GradientNorms norms;  // before clipping, unscaled
  double clip_coefficient = 1.0;
  double learning_rate = 0.0;  // of this update, also when it was skipped
};

StepResult train_step(const StepParts& parts, const StepInput& input);

}  // namespace athanor::trainer
