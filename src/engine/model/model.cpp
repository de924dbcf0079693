#include "engine/model/model.h"

#include "engine/model/kv_cache.h"
#include "engine/model/pass.h"

namespace athanor::model {

Model::Model(const architecture::ModelConfig& config, const ModelOptions& options)
    : pass_(std::make_unique<Pass>(config, options)) {}

Model::~Model() = default;

double Model::forward_backward(const data::MicroBatch& batch, UnitStore& store, double loss_weight, GradientMode mode,
                               std::uint64_t noise_stream) {
  return pass_->forward_backward(batch, store, loss_weight, mode, noise_stream);
}

LossSum Model::evaluate(const data::MicroBatch& batch, UnitStore& store) { return pass_->evaluate(batch, store); }

at::Tensor Model::logits(const data::MicroBatch& batch, UnitStore& store) { return pass_->logits(batch, store); }

std::unique_ptr<KvCache> Model::make_cache(std::int64_t max_tokens) const {
  return std::make_unique<KvCache>(pass_->config(), max_tokens,
                                   at::TensorOptions(pass_->options().compute_type).device(pass_->options().device));
}

at::Tensor Model::decode_step(std::span<const std::int32_t> tokens, KvCache& cache, UnitStore& store) {
  return pass_->decode_step(tokens, cache, store);
}

std::int64_t Model::num_buffer_bytes() const { return pass_->num_buffer_bytes(); }

}  // namespace athanor::model
