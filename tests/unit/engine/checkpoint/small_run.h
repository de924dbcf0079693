// A small store with an optimizer that has taken a few steps: something worth saving.
#pragma once

#include <ATen/ops/randn.h>

#include <cmath>
#include <string>
#include <vector>

#include "engine/checkpoint/writer.h"
#include "engine/optim/optimizer.h"
#include "engine/shard/flat_store.h"

namespace athanor::checkpoint {

inline std::vector<architecture::UnitSpec> small_units() {
  using architecture::Initializer;
  return {{"embedding", {{"model.embed_tokens.weight", {40, 16}}}},
          {"layers.0",
           {{"model.layers.0.mlp.up_proj.weight", {24, 16}},
            {"model.layers.0.input_layernorm.weight", {16}, Initializer::kOnes}}},
          {"head", {{"model.norm.weight", {16}, Initializer::kOnes}, {"lm_head.weight", {40, 16}}}}};
}

struct SmallRun {
  explicit SmallRun(at::ScalarType type, const std::vector<architecture::UnitSpec>& units = small_units())
      : store(units, {.compute_type = type, .gradient_type = at::kFloat}),
        optimizer(config::OptimizerConfig{}, store) {}

  void train(int num_steps) {
    for (int i = 0; i < num_steps; ++i) {
      for (std::size_t u = 0; u < store.layout().units().size(); ++u) {
        for (const at::Tensor& gradient : store.gradients(u)) gradient.copy_(at::randn(gradient.sizes()));
      }
      optimizer.step({.learning_rate = 1e-2});
    }
  }

  // Every bit that a resumed run must have.
  std::vector<float> bits() const {
    std::vector<float> all;
    for (const shard::FlatParameter& parameter : store.layout().parameters()) {
      std::vector<float> values(static_cast<std::size_t>(parameter.num_elements));
      store.read_master(parameter, 0, values);
      all.insert(all.end(), values.begin(), values.end());
      for (int i = 0; i < optimizer.num_states(); ++i) {
        const at::Tensor state = optimizer.state(parameter.unit, i).narrow(0, parameter.offset, parameter.num_elements);
        all.insert(all.end(), state.data_ptr<float>(), state.data_ptr<float>() + state.numel());
      }
    }
    return all;
  }

  SaveRequest request(const std::string& folder, std::int64_t step, formats::Dtype weight_type) const {
    SaveRequest save;
    save.folder = folder;
    save.weights = weight_sources(store, weight_type, BfloatRounding::kTiesAway);
    save.optimizer = optimizer_sources(store, optimizer, weight_type);
    save.text_files = {{"config.json", "{}"}, {kTrainerStateFile, "{}"}};
    save.manifest.step = step;
    save.manifest.optimizer_kind = optimizer_kind_name(optimizer.config().kind);
    save.manifest.optimizer_steps = optimizer.num_steps();
    save.manifest.state.set("position", 17);
    return save;
  }

  shard::FlatStore store;
  optim::Optimizer optimizer;
};

}  // namespace athanor::checkpoint
