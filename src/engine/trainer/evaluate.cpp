#include "engine/trainer/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/clock.h"
#include "engine/trainer/interrupt.h"

namespace athanor::trainer {

namespace {

double rounded(double value, double scale) { return std::round(value * scale) / scale; }

}  // namespace

std::optional<Metrics> evaluate(model::Model& model, model::UnitStore& store, const EvaluationSet& set) {
  const base::Clock::time_point start = base::Clock::now();
  double loss = 0.0;
  std::int64_t num_targets = 0;
  for (std::int64_t step = 0; step < set.plan.updates_per_epoch; ++step) {
    if (interrupt_requested()) return std::nullopt;
    for (const data::MicroBatch& micro_batch : set.loader.batches(set.plan, step)) {
      const model::LossSum sum = model.evaluate(micro_batch, store);
      loss += sum.loss;
      num_targets += sum.num_targets;
    }
  }
  const double seconds = std::max(base::Seconds(base::Clock::now() - start).count(), 1e-9);
  const double mean =
      num_targets > 0 ? loss / static_cast<double>(num_targets) : std::numeric_limits<double>::quiet_NaN();
  return Metrics{{"eval_loss", mean},
                 {"eval_runtime", rounded(seconds, 1e4)},
                 {"eval_samples_per_second", rounded(static_cast<double>(set.num_rows) / seconds, 1e3)},
                 {"eval_steps_per_second", rounded(static_cast<double>(set.plan.updates_per_epoch) / seconds, 1e3)}};
}

const std::vector<std::string>& evaluation_metric_names() {
  static const std::vector<std::string> names = {"eval_loss", "eval_runtime", "eval_samples_per_second",
                                                 "eval_steps_per_second"};
  return names;
}

std::string best_metric_name(const config::CheckpointConfig& config) {
  const std::string name = config.metric_for_best.empty() ? "loss" : config.metric_for_best;
  return name.starts_with("eval_") ? name : "eval_" + name;
}

}  // namespace athanor::trainer
