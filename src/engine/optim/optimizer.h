// An optimizer over the flat units of a store. One pass over memory does everything a step needs: the gradient is unscaled and
// clipped by one factor, the fp32 master weight and the moments are updated, and the compute copy is made.
//
// Shapes:  moments: fp32 [unit elements], one flat buffer for each unit and state.
// Step:    num_steps() counts applied steps; a skipped step is one that was never asked for here.
// Owns:    the moments. The store must outlive the optimizer. Threads: confined to the training thread; parallel inside.
// Cost:    28 bytes of memory traffic a parameter for AdamW in fp32, 26 in bf16 with bf16 gradients.
// Fails:   nothing is examined: a non-finite gradient is the caller's decision (gradient_norm.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "core/config/run_config.h"
#include "engine/optim/update_rule.h"
#include "engine/shard/flat_store.h"

namespace athanor::optim {

struct StepInput {
  double learning_rate = 0.0;
  double gradient_factor = 1.0;                   // clip coefficient / loss scale
  std::optional<Momenta> momenta = std::nullopt;  // none: as configured
};

class Optimizer {
 public:
  Optimizer(const config::OptimizerConfig& config, shard::FlatStore& store);

  void step(const StepInput& input);

  std::int64_t num_steps() const { return num_steps_; }
  void set_num_steps(std::int64_t num_steps) { num_steps_ = num_steps; }

  const config::OptimizerConfig& config() const { return config_; }
  int num_states() const { return num_states_; }
  // [unit elements] fp32.
  const at::Tensor& state(std::size_t unit, int index) const { return states_[unit][static_cast<std::size_t>(index)]; }
  std::int64_t num_bytes() const;

 private:
  void update_range(std::size_t unit, const shard::ElementRange& range, const RuleConstants& constants, float factor);

  config::OptimizerConfig config_;
  shard::FlatStore& store_;
  int num_states_;
  std::vector<std::vector<at::Tensor>> states_;                   // [unit][state]
  std::vector<std::vector<shard::DecaySegment>> decay_segments_;  // [unit]
  std::int64_t num_steps_ = 0;
};

}  // namespace athanor::optim
