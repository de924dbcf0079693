#include "engine/model/decoder_layer.h"

#include <cmath>

#include "engine/ops/attention.h"
#include "engine/ops/linear.h"
#include "engine/ops/rms_norm.h"
#include "engine/ops/swiglu.h"

namespace athanor::model {

namespace {

using ops::GradientMode;

ops::AttentionShape attention_shape(const architecture::ModelConfig& config) {
  return {config.num_attention_heads, config.num_key_value_heads, config.head_dim,
          1.0 / std::sqrt(static_cast<double>(config.head_dim))};
}

// Joined maps fill neighbouring columns of one output.
void joined_forward(const at::Tensor& x_TI, const JoinedLinear& linear, const at::Tensor& y_TO) {
  std::int64_t column = 0;
  for (const LinearTensors& part : linear.parts) {
    const std::int64_t outputs = part.weight_OI.size(0);
    ops::linear_forward(x_TI, part.weight_OI, part.bias_O, y_TO.narrow(1, column, outputs));
    column += outputs;
  }
}

void joined_backward_input(const at::Tensor& y_gradient_TO, const JoinedLinear& linear,
                           const at::Tensor& x_gradient_TI) {
  std::int64_t column = 0;
  for (const LinearTensors& part : linear.parts) {
    const std::int64_t outputs = part.weight_OI.size(0);
    ops::linear_backward_input(y_gradient_TO.narrow(1, column, outputs), part.weight_OI,
                               column == 0 ? GradientMode::kOverwrite : GradientMode::kAccumulate, x_gradient_TI);
    column += outputs;
  }
}

void linear_gradients(const at::Tensor& y_gradient_TO, const at::Tensor& x_TI, const LinearTensors& gradient,
                      GradientMode mode) {
  ops::linear_backward_weight(y_gradient_TO, x_TI, mode, gradient.weight_OI);
  if (gradient.bias_O.defined()) ops::linear_backward_bias(y_gradient_TO, mode, gradient.bias_O);
}

void joined_gradients(const at::Tensor& y_gradient_TO, const at::Tensor& x_TI, const JoinedLinear& gradient,
                      GradientMode mode) {
  std::int64_t column = 0;
  for (const LinearTensors& part : gradient.parts) {
    const std::int64_t outputs = part.weight_OI.size(0);
    linear_gradients(y_gradient_TO.narrow(1, column, outputs), x_TI, part, mode);
    column += outputs;
  }
}

}  // namespace

LayerActivations LayerBuffers::lend(const architecture::ModelConfig& config, std::int64_t num_tokens,
                                    const at::TensorOptions& options, Buffer& x_in_buffer) {
  const at::TensorOptions fp32 = options.dtype(at::kFloat);
  const std::int64_t query = config.num_attention_heads * config.head_dim;
  const std::int64_t key_value = config.num_key_value_heads * config.head_dim;
  LayerActivations kept;
  kept.x_in_TH = x_in_buffer.shaped({num_tokens, config.hidden_size}, options);
  kept.rstd_in_T = rstd_in.shaped({num_tokens}, fp32);
  kept.qkv_TQ = qkv.shaped({num_tokens, query + 2 * key_value}, options);
  kept.attention_TA = attention.shaped({num_tokens, query}, options);
  kept.logsumexp_NT = logsumexp.shaped({config.num_attention_heads, num_tokens}, fp32);
  kept.x_mid_TH = x_mid.shaped({num_tokens, config.hidden_size}, options);
  kept.rstd_mid_T = rstd_mid.shaped({num_tokens}, fp32);
  kept.gate_up_TG = gate_up.shaped({num_tokens, 2 * config.intermediate_size}, options);
  return kept;
}

std::int64_t LayerBuffers::num_bytes() const {
  std::int64_t total = 0;
  for (const Buffer* buffer : {&x_in, &rstd_in, &qkv, &attention, &logsumexp, &x_mid, &rstd_mid, &gate_up}) {
    total += buffer->num_bytes();
  }
  return total;
}

void DecoderLayer::forward(const LayerTensors& weights, const SequenceShape& shape, const at::Tensor& base_TH,
                           Delta delta, const LayerActivations& kept, const WorkTensors& work,
                           const Attend& attend) const {
  if (delta == Delta::kAdd) {
    ops::add_rms_norm_forward(base_TH, work.delta_TH, weights.input_norm_H, config_->rms_norm_eps, kept.x_in_TH,
                              work.normed_TH, kept.rstd_in_T);
  } else {
    if (!kept.x_in_TH.is_same(base_TH)) kept.x_in_TH.copy_(base_TH);
    ops::rms_norm_forward(kept.x_in_TH, weights.input_norm_H, config_->rms_norm_eps, work.normed_TH, kept.rstd_in_T);
  }
  attention_part(weights, shape, kept, work, attend);
  mlp_part(weights, kept, work);
  ops::swiglu_forward(kept.gate_up_TG, work.inner_TI);
  ops::linear_forward(work.inner_TI, weights.down.weight_OI, weights.down.bias_O, work.delta_TH);
}

void DecoderLayer::recompute(const LayerTensors& weights, const SequenceShape& shape, const LayerActivations& kept,
                             const WorkTensors& work) const {
  ops::rms_norm_forward(kept.x_in_TH, weights.input_norm_H, config_->rms_norm_eps, work.normed_TH, kept.rstd_in_T);
  attention_part(weights, shape, kept, work, {});
  mlp_part(weights, kept, work);
}

void DecoderLayer::attention_part(const LayerTensors& weights, const SequenceShape& shape, const LayerActivations& kept,
                                  const WorkTensors& work, const Attend& attend) const {
  joined_forward(work.normed_TH, weights.qkv, kept.qkv_TQ);
  ops::rotate_heads(kept.qkv_TQ, config_->num_attention_heads + config_->num_key_value_heads, config_->head_dim,
                    shape.rope, shape.positions_T, ops::Rotation::kForward);
  if (attend) {
    attend(kept.qkv_TQ, kept.attention_TA);
  } else {
    ops::attention_forward(kept.qkv_TQ, shape.sequence_starts, attention_shape(*config_), kept.attention_TA,
                           kept.logsumexp_NT);
  }
  ops::linear_forward(kept.attention_TA, weights.output.weight_OI, weights.output.bias_O, work.delta_TH);
}

void DecoderLayer::mlp_part(const LayerTensors& weights, const LayerActivations& kept, const WorkTensors& work) const {
  ops::add_rms_norm_forward(kept.x_in_TH, work.delta_TH, weights.post_attention_norm_H, config_->rms_norm_eps,
                            kept.x_mid_TH, work.normed_TH, kept.rstd_mid_T);
  joined_forward(work.normed_TH, weights.gate_up, kept.gate_up_TG);
}

void DecoderLayer::backward(const LayerTensors& weights, const LayerTensors& gradients, const SequenceShape& shape,
                            const LayerActivations& kept, const WorkTensors& work, GradientMode mode,
                            const at::Tensor& gradient_TH) const {
  mlp_backward(weights, gradients, kept, work, mode, gradient_TH);
  attention_part_backward(weights, gradients, shape, kept, work, mode, gradient_TH);
}

void DecoderLayer::mlp_backward(const LayerTensors& weights, const LayerTensors& gradients,
                                const LayerActivations& kept, const WorkTensors& work, GradientMode mode,
                                const at::Tensor& gradient_TH) const {
  ops::linear_backward_input(gradient_TH, weights.down.weight_OI, GradientMode::kOverwrite, work.inner_TI);
  ops::swiglu_backward(work.inner_TI, kept.gate_up_TG);  // inner is now the activation, gate_up its own gradient
  linear_gradients(gradient_TH, work.inner_TI, gradients.down, mode);
  joined_backward_input(kept.gate_up_TG, weights.gate_up, work.normed_TH);
  ops::rms_norm_backward(work.normed_TH, kept.x_mid_TH, kept.rstd_mid_T, weights.post_attention_norm_H, gradient_TH,
                         mode,
                         gradients.post_attention_norm_H);  // normed is now the norm's output
  joined_gradients(kept.gate_up_TG, work.normed_TH, gradients.gate_up, mode);
}

void DecoderLayer::attention_part_backward(const LayerTensors& weights, const LayerTensors& gradients,
                                           const SequenceShape& shape, const LayerActivations& kept,
                                           const WorkTensors& work, GradientMode mode,
                                           const at::Tensor& gradient_TH) const {
  ops::linear_backward_input(gradient_TH, weights.output.weight_OI, GradientMode::kOverwrite,
                             work.attention_gradient_TA);
  linear_gradients(gradient_TH, kept.attention_TA, gradients.output, mode);
  ops::attention_backward(work.attention_gradient_TA, kept.qkv_TQ, kept.attention_TA, kept.logsumexp_NT,
                          shape.sequence_starts, attention_shape(*config_), work.qkv_gradient_TQ);
  ops::rotate_heads(work.qkv_gradient_TQ, config_->num_attention_heads + config_->num_key_value_heads,
                    config_->head_dim, shape.rope, shape.positions_T, ops::Rotation::kBackward);
  joined_backward_input(work.qkv_gradient_TQ, weights.qkv, work.normed_TH);
  ops::rms_norm_backward(work.normed_TH, kept.x_in_TH, kept.rstd_in_T, weights.input_norm_H, gradient_TH, mode,
                         gradients.input_norm_H);
  joined_gradients(work.qkv_gradient_TQ, work.normed_TH, gradients.qkv, mode);
}

}  // namespace athanor::model
