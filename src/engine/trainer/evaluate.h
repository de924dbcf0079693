// The loss over a validation set: the mean over all its target tokens, and how fast it went.
//
// Source:  metric names of transformers 5.23 Trainer.evaluate.
// Threads: confined to the training thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/config/run_config.h"
#include "core/data/loader.h"
#include "engine/model/model.h"

namespace athanor::trainer {

struct EvaluationSet {
  const data::Loader& loader;  // in file order
  data::StepPlan plan;         // one micro-batch a step, one epoch
  std::int64_t num_rows = 0;
};

using Metrics = std::vector<std::pair<std::string, double>>;

// eval_loss, eval_runtime, eval_samples_per_second, eval_steps_per_second. No value when a signal ended it early.
std::optional<Metrics> evaluate(model::Model& model, model::UnitStore& store, const EvaluationSet& set);

// The names above.
const std::vector<std::string>& evaluation_metric_names();
// metric_for_best_model with its prefix; the loss when it is not given.
std::string best_metric_name(const config::CheckpointConfig& config);

}  // namespace athanor::trainer
