// One decoder layer: attention and gated MLP, each behind a norm and beside the residual stream.
//
// Source:  Touvron et al. 2023 (LLaMA); transformers' LlamaDecoderLayer.
// Shapes:  T tokens, H hidden, N query heads, K key and value heads, D head size, Q = (N + 2 K) D, A = N D, I intermediate, G = 2 I.
// Types:   the compute type; rstd and logsumexp fp32.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <span>

#include "core/architecture/model_config.h"
#include "engine/model/buffer.h"
#include "engine/model/layer_tensors.h"
#include "engine/ops/gradient_mode.h"
#include "engine/ops/rope.h"

namespace athanor::model {

// What the micro-batch at hand looks like to every layer.
struct SequenceShape {
  std::int64_t num_tokens = 0;
  std::span<const std::int32_t> sequence_starts;
  at::Tensor positions_T;  // int32
  ops::RopeTable rope;
};

// What a layer's backward needs of its forward. x_in alone is enough to compute the rest again.
struct LayerActivations {
  at::Tensor x_in_TH;  // residual stream before the layer
  at::Tensor rstd_in_T;
  at::Tensor qkv_TQ;  // rotated
  at::Tensor attention_TA;
  at::Tensor logsumexp_NT;
  at::Tensor x_mid_TH;  // residual stream between attention and MLP
  at::Tensor rstd_mid_T;
  at::Tensor gate_up_TG;
};

// Buffers behind LayerActivations, kept between steps.
struct LayerBuffers {
  Buffer x_in, rstd_in, qkv, attention, logsumexp, x_mid, rstd_mid, gate_up;
  // The x_in of `own`, the rest from this (they may be the same).
  LayerActivations lend(const architecture::ModelConfig& config, std::int64_t num_tokens,
                        const at::TensorOptions& options, Buffer& x_in_buffer);
  std::int64_t num_bytes() const;
};

// Work memory that every layer uses in turn.
struct WorkTensors {
  at::Tensor normed_TH;
  at::Tensor delta_TH;  // what the last linear map adds to the residual stream
  at::Tensor inner_TI;
  at::Tensor attention_gradient_TA;
  at::Tensor qkv_gradient_TQ;
};

// Replaces attention over the sequences themselves: generation looks at a cache. Gets rotated q|k|v, writes attention [T, A].
using Attend = std::function<void(const at::Tensor& qkv_TQ, const at::Tensor& attention_TA)>;

class DecoderLayer {
 public:
  explicit DecoderLayer(const architecture::ModelConfig& config) : config_(&config) {}

  // The residual stream that enters is `base`, plus work.delta if `has_delta`; it is written to kept.x_in (which may be `base`
  // when nothing is added). Leaves kept.x_mid and work.delta, whose sum is the residual stream that leaves.
  enum class Delta { kNone, kAdd };
  void forward(const LayerTensors& weights, const SequenceShape& shape, const at::Tensor& base_TH, Delta delta,
               const LayerActivations& kept, const WorkTensors& work, const Attend& attend = {}) const;

  // Computes everything but x_in again, up to gate_up; the same bits as forward().
  void recompute(const LayerTensors& weights, const SequenceShape& shape, const LayerActivations& kept,
                 const WorkTensors& work) const;

  // `gradient` comes as that of the residual stream that leaves, and goes as that of the one that enters. Uses up gate_up.
  void backward(const LayerTensors& weights, const LayerTensors& gradients, const SequenceShape& shape,
                const LayerActivations& kept, const WorkTensors& work, ops::GradientMode mode,
                const at::Tensor& gradient_TH) const;

 private:
  void attention_part(const LayerTensors& weights, const SequenceShape& shape, const LayerActivations& kept,
                      const WorkTensors& work, const Attend& attend) const;
  void mlp_part(const LayerTensors& weights, const LayerActivations& kept, const WorkTensors& work) const;
  void mlp_backward(const LayerTensors& weights, const LayerTensors& gradients, const LayerActivations& kept,
                    const WorkTensors& work, ops::GradientMode mode, const at::Tensor& gradient_TH) const;
  void attention_part_backward(const LayerTensors& weights, const LayerTensors& gradients, const SequenceShape& shape,
                               const LayerActivations& kept, const WorkTensors& work, ops::GradientMode mode,
                               const at::Tensor& gradient_TH) const;

  const architecture::ModelConfig* config_;
};

}  // namespace athanor::model
