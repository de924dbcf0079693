// The head: final hidden states to loss, gradients or logits. Logits of a whole micro-batch exist only when they are asked for.
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/index_select.h>

#include "engine/model/pass.h"
#include "engine/model/round_size.h"
#include "engine/ops/cross_entropy.h"
#include "engine/ops/linear.h"
#include "engine/ops/rms_norm.h"

namespace athanor::model {

Model::Pass::TargetRows Model::Pass::target_rows(const data::MicroBatch& batch) const {
  std::vector<std::int64_t> rows;
  std::vector<std::int32_t> targets;
  rows.reserve(static_cast<std::size_t>(batch.num_targets));
  targets.reserve(static_cast<std::size_t>(batch.num_targets));
  for (std::size_t i = 0; i < batch.targets.size(); ++i) {
    if (batch.targets[i] == data::kNoTarget) continue;
    rows.push_back(static_cast<std::int64_t>(i));
    targets.push_back(batch.targets[i]);
  }
  const auto count = static_cast<std::int64_t>(rows.size());
  const std::int64_t filled = round_size(count);
  targets.resize(static_cast<std::size_t>(filled), data::kNoTarget);
  return {at::from_blob(rows.data(), {count}, at::TensorOptions(at::kLong)).clone().to(options_.device),
          at::from_blob(targets.data(), {filled}, at::TensorOptions(at::kInt)).clone().to(options_.device)};
}

at::Tensor Model::Pass::gather_rows(const TargetRows& rows) {
  const std::int64_t count = rows.rows_R.size(0), filled = rows.targets_F.size(0);
  const at::Tensor hidden_FH = gathered_.shaped({filled, config_.hidden_size}, tensor_options_);
  at::Tensor hidden_RH = hidden_FH.narrow(0, 0, count);
  at::index_select_out(hidden_RH, work_.normed_TH, 0, rows.rows_R);
  hidden_FH.narrow(0, count, filled - count).zero_();
  return hidden_FH;
}

at::Tensor Model::Pass::logits_work(std::int64_t num_rows) {
  const auto element_bytes = static_cast<std::int64_t>(tensor_options_.dtype().itemsize());
  return logits_.shaped({ops::loss_rows_at_a_time(num_rows, config_.vocab_size, element_bytes), config_.vocab_size},
                        tensor_options_);
}

double Model::Pass::run_head(const data::MicroBatch& batch, UnitStore& store, double loss_weight, GradientMode mode) {
  const TargetRows rows = target_rows(batch);
  const at::Tensor hidden = gather_rows(rows);
  const HeadWeights head = acquire_head(store);
  const std::span<const at::Tensor> gradients = store.gradients(head_unit());
  ops::LossGradients wanted;
  wanted.hidden_RH = hidden;
  wanted.weight_VH = config_.tie_word_embeddings ? store.gradients(0)[0] : gradients[1];
  wanted.weight_mode = mode;
  wanted.loss_weight = loss_weight;
  const double loss =
      ops::linear_cross_entropy(hidden, head.projection_VH, rows.targets_F, logits_work(hidden.size(0)), wanted);
  // Tokens without a target get no gradient from the loss, only from later tokens that look at them.
  work_.normed_TH.zero_();
  work_.normed_TH.index_copy_(0, rows.rows_R, hidden.narrow(0, 0, rows.rows_R.size(0)));
  gradient_TH_ = gradient_buffer_.shaped({final_x_TH_.size(0), config_.hidden_size}, tensor_options_);
  gradient_TH_.zero_();
  ops::rms_norm_backward(work_.normed_TH, final_x_TH_, final_rstd_T_, head.norm_H, gradient_TH_, mode, gradients[0]);
  store.gradients_ready(head_unit());
  release_head(store);
  return loss;
}

LossSum Model::Pass::evaluate(const data::MicroBatch& batch, UnitStore& store) {
  if (batch.num_targets == 0) return {};
  const Input input = prepare(batch);
  run_forward(input, store, Keep::kNothing, std::nullopt);
  const TargetRows rows = target_rows(batch);
  const at::Tensor hidden = gather_rows(rows);
  const HeadWeights head = acquire_head(store);
  const double loss =
      ops::linear_cross_entropy(hidden, head.projection_VH, rows.targets_F, logits_work(hidden.size(0)));
  release_head(store);
  return {loss, batch.num_targets};
}

at::Tensor Model::Pass::logits(const data::MicroBatch& batch, UnitStore& store) {
  const Input input = prepare(batch);
  run_forward(input, store, Keep::kNothing, std::nullopt);
  const HeadWeights head = acquire_head(store);
  const at::Tensor hidden = work_.normed_TH.narrow(0, 0, static_cast<std::int64_t>(batch.tokens.size()));
  at::Tensor logits = at::empty({hidden.size(0), config_.vocab_size}, tensor_options_);
  ops::linear_forward(hidden, head.projection_VH, {}, logits);
  release_head(store);
  return logits;
}

}  // namespace athanor::model
