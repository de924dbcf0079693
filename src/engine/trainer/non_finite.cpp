#include "engine/trainer/non_finite.h"

#include <ATen/ops/all.h>
#include <ATen/ops/isfinite.h>
#include <fmt/format.h>

#include <cmath>

#include "core/base/error.h"

namespace athanor::trainer {

namespace {

// The first `num_layers` layers of a store, followed by its head.
class FirstLayers final : public model::UnitStore {
 public:
  FirstLayers(shard::FlatStore& store, std::int64_t num_layers)
      : store_(store), num_layers_(static_cast<std::size_t>(num_layers)) {}

  std::span<const at::Tensor> parameters(std::size_t unit) override { return store_.parameters(original(unit)); }
  void release(std::size_t unit) override { store_.release(original(unit)); }
  std::span<const at::Tensor> gradients(std::size_t) override {
    ATHANOR_CHECK(false, "a forward pass has no gradients");
  }
  void gradients_ready(std::size_t) override {}

 private:
  std::size_t original(std::size_t unit) const {
    return unit <= num_layers_ ? unit : store_.layout().units().size() - 1;
  }

  shard::FlatStore& store_;
  std::size_t num_layers_;
};

bool loss_is_finite(const architecture::ModelConfig& config, const model::ModelOptions& options,
                    shard::FlatStore& store, std::int64_t num_layers, const data::MicroBatch& micro_batch) {
  architecture::ModelConfig part = config;
  part.num_hidden_layers = num_layers;
  FirstLayers layers(store, num_layers);
  return std::isfinite(model::Model(part, options).evaluate(micro_batch, layers).loss);
}

std::string first_bad_weight(const shard::FlatStore& store) {
  for (const shard::FlatParameter& parameter : store.layout().parameters()) {
    const at::Tensor flat = store.compute(parameter.unit).narrow(0, parameter.offset, parameter.num_elements);
    if (!flat.to(at::kFloat).isfinite().all().item<bool>()) return parameter.spec.name;
  }
  return "";
}

// The fewest layers after which the loss is not finite: the last of them is the culprit.
std::int64_t first_bad_layer(const architecture::ModelConfig& config, const model::ModelOptions& options,
                             shard::FlatStore& store, const data::MicroBatch& micro_batch) {
  std::int64_t good = 0, bad = config.num_hidden_layers;
  while (bad - good > 1) {
    const std::int64_t middle = (good + bad) / 2;
    (loss_is_finite(config, options, store, middle, micro_batch) ? good : bad) = middle;
  }
  return bad - 1;
}

std::string rows_of(const data::MicroBatch& micro_batch) {
  return micro_batch.row_ids.empty() ? "" : fmt::format(" (first row {})", micro_batch.row_ids.front());
}

}  // namespace

NonFiniteEvidence find_non_finite(const architecture::ModelConfig& config, const model::ModelOptions& options,
                                  shard::FlatStore& store, std::span<const data::MicroBatch> global_batch,
                                  const optim::GradientNorms& norms) {
  const std::string weight = first_bad_weight(store);
  if (!weight.empty())
    return {NonFiniteOrigin::kWeights, weight, fmt::format("the weight {} itself is not finite", weight)};
  for (std::size_t i = 0; i < global_batch.size(); ++i) {
    if (global_batch[i].num_targets == 0) continue;
    if (loss_is_finite(config, options, store, config.num_hidden_layers, global_batch[i])) continue;
    const std::string place =
        fmt::format("the output of layers.{}", first_bad_layer(config, options, store, global_batch[i]));
    return {NonFiniteOrigin::kForward, place,
            fmt::format(
                "the loss itself is not finite in micro-batch {}{}, first in {}: lowering the loss scale will not help",
                i + 1, rows_of(global_batch[i]), place)};
  }
  const std::string gradient =
      norms.finite() ? std::string("no gradient") : store.layout().parameters()[norms.last_non_finite].spec.name;
  return {NonFiniteOrigin::kBackward, gradient,
          fmt::format("the loss is finite, only gradients are not, first that of {}", gradient)};
}

}  // namespace athanor::trainer
