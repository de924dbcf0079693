#include "engine/optim/optimizer.h"

#include "engine/optim/fused_update.h"
#include "engine/optim/tensor_update.h"
#include "engine/shard/flat_buffer.h"

namespace athanor::optim {

Optimizer::Optimizer(const config::OptimizerConfig& config, shard::FlatStore& store)
    : config_(config), store_(store), num_states_(optim::num_states(config)) {
  const shard::DecayRule rule = config.decay_groups == config::DecayGroups::kHuggingFace
                                    ? shard::DecayRule::kNotBiasesAndNorms
                                    : shard::DecayRule::kEverything;
  for (std::size_t u = 0; u < store.layout().units().size(); ++u) {
    states_.emplace_back();
    for (int i = 0; i < num_states_; ++i)
      states_[u].push_back(
          shard::allocate_flat(store.layout().units()[u].num_elements, at::kFloat, store.options().device));
    decay_segments_.push_back(shard::decay_segments(store.layout(), u, rule));
  }
}

void Optimizer::step(const StepInput& input) {
  ++num_steps_;
  const Momenta momenta = input.momenta.value_or(configured_momenta(config_));
  const float factor = static_cast<float>(input.gradient_factor);
  const RuleConstants with_decay = rule_constants(config_, momenta, input.learning_rate, num_steps_, Decay::kOn);
  const RuleConstants without_decay = rule_constants(config_, momenta, input.learning_rate, num_steps_, Decay::kOff);
  for (std::size_t u = 0; u < states_.size(); ++u) {
    for (const shard::DecaySegment& segment : decay_segments_[u]) {
      update_range(u, segment.range, segment.decays ? with_decay : without_decay, factor);
    }
  }
}

void Optimizer::update_range(std::size_t unit, const shard::ElementRange& range, const RuleConstants& constants,
                             float factor) {
  const auto part = [&](const at::Tensor& flat) { return flat.narrow(0, range.begin, range.size()); };
  UnitSlice slice;
  slice.gradient = part(store_.gradient(unit));
  slice.compute = part(store_.compute(unit));
  if (store_.master_kind() == shard::MasterKind::kResidual) slice.residual = part(store_.residual(unit));
  if (store_.master_kind() == shard::MasterKind::kSeparate) slice.master = part(store_.master(unit));
  for (const at::Tensor& state : states_[unit]) slice.states.push_back(part(state));
  if (store_.options().device.is_cpu()) {
    update_fused(slice, constants, factor);
  } else {
    update_with_tensors(slice, constants, factor);
  }
}

std::int64_t Optimizer::num_bytes() const {
  std::int64_t total = 0;
  for (const auto& unit : states_) {
    for (const at::Tensor& state : unit) total += static_cast<std::int64_t>(state.nbytes());
  }
  return total;
}

}  // namespace athanor::optim
