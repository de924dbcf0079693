#include "engine/model/pass.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>

#include "core/base/error.h"
#include "engine/model/round_size.h"
#include "engine/ops/embedding.h"
#include "engine/ops/rms_norm.h"

namespace athanor::model {

namespace {

at::Tensor to_device(std::span<const std::int32_t> values, at::Device device) {
  // from_blob does not own; the copy does.
  return at::from_blob(const_cast<std::int32_t*>(values.data()), {static_cast<std::int64_t>(values.size())},
                       at::TensorOptions(at::kInt))
      .clone()
      .to(device);
}

std::int64_t longest_sequence(std::span<const std::int32_t> starts) {
  std::int64_t longest = 0;
  for (std::size_t i = 1; i < starts.size(); ++i) longest = std::max<std::int64_t>(longest, starts[i] - starts[i - 1]);
  return longest;
}

}  // namespace

Model::Pass::Pass(const architecture::ModelConfig& config, const ModelOptions& options)
    : config_(config),
      options_(options),
      tensor_options_(at::TensorOptions(options.compute_type).device(options.device)),
      layer_(config_),
      kept_(static_cast<std::size_t>(config.num_hidden_layers)) {}

const ops::RopeTable& Model::Pass::rope_table(std::int64_t num_positions) {
  // Dynamic scaling depends on the length at hand; the other kinds only need enough positions.
  const bool fits = config_.rope.type == architecture::RopeType::kDynamic ? rope_positions_ == num_positions
                                                                          : rope_positions_ >= num_positions;
  if (!fits) {
    const architecture::RopeFrequencies frequencies = architecture::rope_frequencies(config_, num_positions);
    rope_ = ops::make_rope_table(frequencies.inverse_frequencies, frequencies.attention_scaling, num_positions,
                                 options_.device);
    rope_positions_ = num_positions;
  }
  return rope_;
}

Model::Pass::Input Model::Pass::prepare(std::span<const std::int32_t> tokens, std::span<const std::int32_t> positions,
                                        std::vector<std::int32_t> sequence_starts, std::int64_t longest) {
  Input input;
  input.tokens_T = to_device(tokens, options_.device);
  input.sequence_starts = std::move(sequence_starts);
  input.shape.num_tokens = static_cast<std::int64_t>(tokens.size());
  input.shape.sequence_starts = input.sequence_starts;
  input.shape.positions_T = to_device(positions, options_.device);
  input.shape.rope = rope_table(longest);
  return input;
}

Model::Pass::Input Model::Pass::prepare(const data::MicroBatch& batch) {
  const std::int64_t longest = longest_sequence(batch.sequence_starts);
  const auto filled = static_cast<std::size_t>(round_size(static_cast<std::int64_t>(batch.tokens.size())));
  std::vector<std::int32_t> tokens = batch.tokens;
  std::vector<std::int32_t> positions = batch.positions;
  std::vector<std::int32_t> starts = batch.sequence_starts;
  tokens.resize(filled, 0);
  // No filling sequence is longer than the longest real one, so that the rotary table stays as it is.
  while (positions.size() < filled) {
    const std::size_t length = std::min(filled - positions.size(), static_cast<std::size_t>(longest));
    for (std::size_t i = 0; i < length; ++i) positions.push_back(static_cast<std::int32_t>(i));
    starts.push_back(static_cast<std::int32_t>(positions.size()));
  }
  return prepare(tokens, positions, std::move(starts), longest);
}

LayerActivations Model::Pass::activations(std::int64_t layer, std::int64_t num_tokens, Keep keep) {
  LayerBuffers& own = kept_[static_cast<std::size_t>(layer)];
  LayerBuffers& rest = keep == Keep::kEverything ? own : scratch_;
  Buffer& x_in = keep == Keep::kNothing ? scratch_.x_in : own.x_in;
  return rest.lend(config_, num_tokens, tensor_options_, x_in);
}

void Model::Pass::lend_work(std::int64_t num_tokens) {
  const std::int64_t query = config_.num_attention_heads * config_.head_dim;
  const std::int64_t key_value = config_.num_key_value_heads * config_.head_dim;
  work_.normed_TH = normed_.shaped({num_tokens, config_.hidden_size}, tensor_options_);
  work_.delta_TH = delta_.shaped({num_tokens, config_.hidden_size}, tensor_options_);
  work_.inner_TI = inner_.shaped({num_tokens, config_.intermediate_size}, tensor_options_);
  work_.attention_gradient_TA = attention_gradient_.shaped({num_tokens, query}, tensor_options_);
  work_.qkv_gradient_TQ = qkv_gradient_.shaped({num_tokens, query + 2 * key_value}, tensor_options_);
  final_x_TH_ = final_x_buffer_.shaped({num_tokens, config_.hidden_size}, tensor_options_);
  final_rstd_T_ = final_rstd_buffer_.shaped({num_tokens}, tensor_options_.dtype(at::kFloat));
}

void Model::Pass::run_forward(const Input& input, UnitStore& store, Keep keep,
                              std::optional<std::uint64_t> noise_stream, const AttendOfLayer& attend) {
  const std::int64_t num_tokens = input.shape.num_tokens;
  lend_work(num_tokens);
  at::Tensor base = activations(0, num_tokens, keep).x_in_TH;
  ops::embedding_forward(input.tokens_T, store.parameters(0)[0], base);
  store.release(0);
  if (noise_stream.has_value()) {
    ops::add_embedding_noise(base, input.shape.sequence_starts,
                             {options_.neftune_noise_alpha, options_.noise_seed, *noise_stream});
  }
  for (std::int64_t layer = 0; layer < config_.num_hidden_layers; ++layer) {
    const LayerTensors weights = pick_layer_tensors(config_, store.parameters(layer_unit(layer)));
    const LayerActivations kept = activations(layer, num_tokens, keep);
    layer_.forward(weights, input.shape, base, layer == 0 ? DecoderLayer::Delta::kNone : DecoderLayer::Delta::kAdd,
                   kept, work_, attend ? attend(layer) : Attend());
    store.release(layer_unit(layer));
    base = kept.x_mid_TH;
  }
  const HeadWeights head = acquire_head(store);
  ops::add_rms_norm_forward(base, work_.delta_TH, head.norm_H, config_.rms_norm_eps, final_x_TH_, work_.normed_TH,
                            final_rstd_T_);
  release_head(store);
}

Model::Pass::HeadWeights Model::Pass::acquire_head(UnitStore& store) {
  const std::span<const at::Tensor> head = store.parameters(head_unit());
  if (config_.tie_word_embeddings) return {head[0], store.parameters(0)[0]};
  return {head[0], head[1]};
}

void Model::Pass::release_head(UnitStore& store) {
  store.release(head_unit());
  if (config_.tie_word_embeddings) store.release(0);
}

void Model::Pass::run_backward(const Input& input, UnitStore& store, GradientMode mode) {
  const Keep keep = options_.recompute == Recompute::kLayers ? Keep::kInputs : Keep::kEverything;
  for (std::int64_t layer = config_.num_hidden_layers - 1; layer >= 0; --layer) {
    const std::size_t unit = layer_unit(layer);
    const LayerTensors weights = pick_layer_tensors(config_, store.parameters(unit));
    const LayerTensors gradients = pick_layer_tensors(config_, store.gradients(unit));
    const LayerActivations kept = activations(layer, input.shape.num_tokens, keep);
    if (keep == Keep::kInputs) layer_.recompute(weights, input.shape, kept, work_);
    layer_.backward(weights, gradients, input.shape, kept, work_, mode, gradient_TH_);
    store.gradients_ready(unit);
    store.release(unit);
  }
  // A tied head has written to this gradient already.
  const GradientMode embedding_mode = config_.tie_word_embeddings ? GradientMode::kAccumulate : mode;
  ops::embedding_backward(gradient_TH_, input.tokens_T, embedding_mode, store.gradients(0)[0]);
  store.gradients_ready(0);
}

void Model::Pass::skip_gradients(UnitStore& store, GradientMode mode) {
  for (std::size_t unit = head_unit() + 1; unit-- > 0;) {
    if (mode == GradientMode::kOverwrite) {
      for (const at::Tensor& gradient : store.gradients(unit)) const_cast<at::Tensor&>(gradient).zero_();
    }
    store.gradients_ready(unit);
  }
}

double Model::Pass::forward_backward(const data::MicroBatch& batch, UnitStore& store, double loss_weight,
                                     GradientMode mode, std::uint64_t noise_stream) {
  if (batch.num_targets == 0) {
    skip_gradients(store, mode);
    return 0.0;
  }
  const Keep keep = options_.recompute == Recompute::kLayers ? Keep::kInputs : Keep::kEverything;
  const Input input = prepare(batch);
  run_forward(input, store, keep, adds_noise() ? std::optional(noise_stream) : std::nullopt);
  const double loss = run_head(batch, store, loss_weight, mode);
  run_backward(input, store, mode);
  return loss;
}

std::int64_t Model::Pass::num_buffer_bytes() const {
  std::int64_t total = scratch_.num_bytes();
  for (const LayerBuffers& layer : kept_) total += layer.num_bytes();
  for (const Buffer* buffer : {&normed_, &delta_, &inner_, &attention_gradient_, &qkv_gradient_, &gradient_buffer_,
                               &final_x_buffer_, &final_rstd_buffer_, &gathered_, &logits_}) {
    total += buffer->num_bytes();
  }
  return total;
}

}  // namespace athanor::model
