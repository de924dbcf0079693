// Runs the real optimizer step over the micro-batches of a parity case and keeps what each step came to.
#pragma once

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/architecture/model_folder.h"
#include "core/base/json.h"
#include "engine/checkpoint/loader.h"
#include "engine/trainer/train_step.h"

namespace athanor::parity {

inline std::string case_folder(const std::string& name) {
  return std::string(ATHANOR_SOURCE_DIR "/tests/parity/") + name;
}

// The optimizer of every case.
inline config::OptimizerConfig reference_adamw() {
  config::OptimizerConfig config;
  config.learning_rate = 3e-3;
  config.beta1 = 0.9;
  config.beta2 = 0.95;
  config.epsilon = 1e-8;
  config.weight_decay = 0.1;
  return config;
}

struct TrajectorySetup {
  std::string model_folder;
  at::ScalarType type = at::kFloat;
  std::int64_t accumulation_steps = 1;
  config::OptimizerConfig optimizer;
  config::PrecisionConfig precision;
  double max_norm = 1.0;
  config::ScheduleConfig schedule;
  std::int64_t total_steps = 0;
  model::Recompute recompute = model::Recompute::kNothing;
};

struct TrajectoryStep {
  double loss = 0.0;
  double gradient_norm = 0.0;
  double learning_rate = 0.0;
  trainer::StepAction action = trainer::StepAction::kApply;
  std::map<std::string, double> norm_by_parameter;
};

class Trajectory {
 public:
  explicit Trajectory(const TrajectorySetup& setup)
      : setup_(setup),
        folder_(architecture::open_model_folder(setup.model_folder)),
        store_(architecture::list_units(folder_.config),
               {.compute_type = setup.type, .gradient_type = setup.accumulation_steps == 1 ? setup.type : at::kFloat}),
        optimizer_(setup.optimizer, store_),
        model_(folder_.config, {.compute_type = setup.type, .recompute = setup.recompute}),
        schedule_(schedule::make_schedule(setup.schedule, setup.optimizer.learning_rate, setup.total_steps)) {
    checkpoint::load_weights(store_, architecture::open_model_weights(folder_), setup.model_folder);
    if (setup.type == at::kHalf) scaler_ = schedule::initial_scaler_state(setup.precision.scaler);
  }

  TrajectoryStep step(const std::vector<data::MicroBatch>& global_batch) {
    const trainer::StepResult result =
        trainer::train_step({model_, store_, optimizer_, schedule_, setup_.precision, {.max_norm = setup_.max_norm}},
                            {.global_batch = global_batch, .scaler = scaler_});
    scaler_ = result.decision.scaler;
    TrajectoryStep step{result.loss, result.norms.total, result.learning_rate, result.decision.action, {}};
    for (std::size_t p = 0; p < result.norms.by_parameter.size(); ++p) {
      step.norm_by_parameter[store_.layout().parameters()[p].spec.name] = result.norms.by_parameter[p];
    }
    return step;
  }

  at::Tensor logits(const data::MicroBatch& batch) { return model_.logits(batch, store_); }

  // Name to (norm, sum) of the fp32 weights.
  std::map<std::string, std::pair<double, double>> final_norms_and_sums() const {
    std::map<std::string, std::pair<double, double>> result;
    for (const shard::FlatParameter& parameter : store_.layout().parameters()) {
      double square = 0.0, sum = 0.0;
      for (const float value : weights(parameter)) {
        square += static_cast<double>(value) * value;
        sum += value;
      }
      result[parameter.spec.name] = {std::sqrt(square), sum};
    }
    return result;
  }

  std::vector<float> weights(const shard::FlatParameter& parameter) const {
    std::vector<float> values(static_cast<std::size_t>(parameter.num_elements));
    store_.read_master(parameter, 0, values);
    return values;
  }
  std::vector<float> all_weights() const {
    std::vector<float> all;
    for (const shard::FlatParameter& parameter : store_.layout().parameters()) {
      const std::vector<float> values = weights(parameter);
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }

 private:
  TrajectorySetup setup_;
  architecture::ModelFolder folder_;
  shard::FlatStore store_;
  optim::Optimizer optimizer_;
  model::Model model_;
  schedule::LearningRateSchedule schedule_;
  schedule::ScalerState scaler_;
};

// Rows as whole sequences; labels are aligned with the tokens and shifted here.
inline data::MicroBatch make_micro_batch(const std::vector<std::vector<std::int32_t>>& tokens,
                                         const std::vector<std::vector<std::int32_t>>& labels) {
  data::MicroBatch batch;
  batch.sequence_starts.push_back(0);
  for (std::size_t row = 0; row < tokens.size(); ++row) {
    for (std::size_t i = 0; i < tokens[row].size(); ++i) {
      batch.tokens.push_back(tokens[row][i]);
      batch.positions.push_back(static_cast<std::int32_t>(i));
      batch.targets.push_back(i + 1 < tokens[row].size() ? labels[row][i + 1] : data::kNoTarget);
      batch.num_targets += batch.targets.back() != data::kNoTarget;
    }
    batch.sequence_starts.push_back(static_cast<std::int32_t>(batch.tokens.size()));
    batch.row_ids.push_back(static_cast<std::int64_t>(row));
  }
  batch.num_padded_tokens = static_cast<std::int64_t>(batch.tokens.size());
  return batch;
}

// Deals rows into `parts` micro-batches of equal size, in order.
inline std::vector<data::MicroBatch> deal(const std::vector<std::vector<std::int32_t>>& tokens,
                                          const std::vector<std::vector<std::int32_t>>& labels, std::int64_t parts) {
  std::vector<data::MicroBatch> result;
  const std::size_t rows = tokens.size() / static_cast<std::size_t>(parts);
  for (std::size_t first = 0; first < tokens.size(); first += rows) {
    const auto part = [&](const auto& all) {
      return std::vector<std::vector<std::int32_t>>(all.begin() + static_cast<std::ptrdiff_t>(first),
                                                    all.begin() + static_cast<std::ptrdiff_t>(first + rows));
    };
    result.push_back(make_micro_batch(part(tokens), part(labels)));
  }
  return result;
}

}  // namespace athanor::parity
