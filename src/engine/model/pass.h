// The working half of Model: buffers, and the walk over units that each public call is made of. Internal to engine/model.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/model/decoder_layer.h"
#include "engine/model/model.h"

namespace athanor::model {

class Model::Pass {
 public:
  Pass(const architecture::ModelConfig& config, const ModelOptions& options);

  double forward_backward(const data::MicroBatch& batch, UnitStore& store, double loss_weight, GradientMode mode,
                          std::uint64_t noise_stream);
  LossSum evaluate(const data::MicroBatch& batch, UnitStore& store);
  at::Tensor logits(const data::MicroBatch& batch, UnitStore& store);
  at::Tensor decode_step(std::span<const std::int32_t> tokens, KvCache& cache, UnitStore& store);
  std::int64_t num_buffer_bytes() const;

  const architecture::ModelConfig& config() const { return config_; }
  const ModelOptions& options() const { return options_; }

 private:
  // Whether the activations of each layer are kept for a backward pass.
  enum class Keep { kNothing, kInputs, kEverything };
  using AttendOfLayer = std::function<Attend(std::int64_t layer)>;

  // A micro-batch on the device. Sequences without a target fill it up to a round number of tokens, see Note [Round sizes].
  struct Input {
    at::Tensor tokens_T;
    std::vector<std::int32_t> sequence_starts;
    SequenceShape shape;  // looks at sequence_starts
  };
  Input prepare(std::span<const std::int32_t> tokens, std::span<const std::int32_t> positions,
                std::vector<std::int32_t> sequence_starts, std::int64_t longest);
  Input prepare(const data::MicroBatch& batch);
  const ops::RopeTable& rope_table(std::int64_t num_positions);
  LayerActivations activations(std::int64_t layer, std::int64_t num_tokens, Keep keep);
  void lend_work(std::int64_t num_tokens);
  bool adds_noise() const { return options_.neftune_noise_alpha > 0.0; }

  // Runs all units; leaves the normed final hidden states in work_.normed, the residual stream in final_x_ and its rstd.
  void run_forward(const Input& input, UnitStore& store, Keep keep, std::optional<std::uint64_t> noise_stream,
                   const AttendOfLayer& attend = {});
  // Loss of the rows with a target, its gradients into the head's weight, and d loss / d (residual stream) in gradient_.
  double run_head(const data::MicroBatch& batch, UnitStore& store, double loss_weight, GradientMode mode);
  void run_backward(const Input& input, UnitStore& store, GradientMode mode);
  void skip_gradients(UnitStore& store, GradientMode mode);

  // Rows that have a target, and their targets, which kNoTarget fills up to a round number F, see Note [Round sizes].
  struct TargetRows {
    at::Tensor rows_R;     // int64
    at::Tensor targets_F;  // int32
  };
  TargetRows target_rows(const data::MicroBatch& batch) const;
  at::Tensor gather_rows(const TargetRows& rows);  // [F, H]; the rows that fill up are zero
  at::Tensor logits_work(std::int64_t num_rows);
  // Head parameters: the norm, and the output projection (the embedding when tied).
  struct HeadWeights {
    at::Tensor norm_H;
    at::Tensor projection_VH;
  };
  HeadWeights acquire_head(UnitStore& store);
  void release_head(UnitStore& store);

  std::size_t head_unit() const { return static_cast<std::size_t>(config_.num_hidden_layers) + 1; }
  static std::size_t layer_unit(std::int64_t layer) { return static_cast<std::size_t>(layer) + 1; }

  architecture::ModelConfig config_;
  ModelOptions options_;
  at::TensorOptions tensor_options_;
  DecoderLayer layer_;

  std::vector<LayerBuffers> kept_;  // one a layer, filled as Keep says
  LayerBuffers scratch_;            // what is not kept
  Buffer normed_, delta_, inner_, attention_gradient_, qkv_gradient_, gradient_buffer_, final_x_buffer_,
      final_rstd_buffer_, gathered_, logits_;
  WorkTensors work_;
  at::Tensor final_x_TH_, final_rstd_T_, gradient_TH_;
  ops::RopeTable rope_;
  std::int64_t rope_positions_ = 0;
};

}  // namespace athanor::model
