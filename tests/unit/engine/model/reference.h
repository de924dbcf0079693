// The model written down plainly in double precision on autograd: one sequence at a time, scores stored, nothing fused.
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "core/architecture/model_config.h"
#include "core/data/micro_batch.h"
#include "engine/shard/flat_store.h"

namespace athanor::model::testing {

using Parameters = std::map<std::string, at::Tensor>;

// The store's fp32 weights as leaves of autograd, in double.
inline Parameters leaves_of(const shard::FlatStore& store) {
  Parameters leaves;
  for (const shard::FlatParameter& parameter : store.layout().parameters()) {
    std::vector<float> values(static_cast<std::size_t>(parameter.num_elements));
    store.read_master(parameter, 0, values);
    leaves[parameter.spec.name] =
        at::tensor(values, at::kFloat).to(at::kDouble).view(parameter.spec.shape).requires_grad_(true);
  }
  return leaves;
}

class Reference {
 public:
  Reference(const architecture::ModelConfig& config, const Parameters& parameters)
      : config_(config), parameters_(parameters) {}

  // [length, vocab_size]; `longest` is the batch's longest sequence, which dynamic rotary scaling looks at.
  at::Tensor logits(const std::vector<std::int32_t>& tokens, std::int64_t longest) const {
    const at::Tensor ids = at::tensor(std::vector<std::int64_t>(tokens.begin(), tokens.end()), at::kLong);
    at::Tensor x = at::embedding(get("model.embed_tokens.weight"), ids);
    for (std::int64_t i = 0; i < config_.num_hidden_layers; ++i) {
      const std::string layer = "model.layers." + std::to_string(i) + ".";
      x = x + attention(norm(x, layer + "input_layernorm.weight"), layer + "self_attn.", longest);
      const at::Tensor n = norm(x, layer + "post_attention_layernorm.weight");
      x = x + project(at::silu(project(n, layer + "mlp.gate_proj")) * project(n, layer + "mlp.up_proj"),
                      layer + "mlp.down_proj");
    }
    return at::linear(norm(x, "model.norm.weight"),
                      get(config_.tie_word_embeddings ? "model.embed_tokens.weight" : "lm_head.weight"));
  }

  // Sum of the token losses of the batch.
  at::Tensor loss(const data::MicroBatch& batch) const {
    std::int32_t longest = 0;
    for (std::size_t s = 0; s + 1 < batch.sequence_starts.size(); ++s) {
      longest = std::max(longest, batch.sequence_starts[s + 1] - batch.sequence_starts[s]);
    }
    at::Tensor sum = at::zeros({}, at::kDouble);
    for (std::size_t s = 0; s + 1 < batch.sequence_starts.size(); ++s) {
      const auto begin = batch.tokens.begin() + batch.sequence_starts[s];
      const auto end = batch.tokens.begin() + batch.sequence_starts[s + 1];
      const at::Tensor log_probabilities = at::log_softmax(logits({begin, end}, longest), 1);
      for (std::int32_t t = batch.sequence_starts[s]; t < batch.sequence_starts[s + 1]; ++t) {
        const std::int32_t target = batch.targets[static_cast<std::size_t>(t)];
        if (target != data::kNoTarget) sum = sum - log_probabilities[t - batch.sequence_starts[s]][target];
      }
    }
    return sum;
  }

 private:
  const at::Tensor& get(const std::string& name) const { return parameters_.at(name); }

  at::Tensor project(const at::Tensor& x, const std::string& name) const {
    const auto bias = parameters_.find(name + ".bias");
    return bias == parameters_.end() ? at::linear(x, get(name + ".weight"))
                                     : at::linear(x, get(name + ".weight"), bias->second);
  }

  at::Tensor norm(const at::Tensor& x, const std::string& name) const {
    return x * at::rsqrt(x.pow(2).mean(-1, true) + config_.rms_norm_eps) * get(name);
  }

  at::Tensor rotate(const at::Tensor& heads_NTD, std::int64_t longest) const {
    const architecture::RopeFrequencies rope = architecture::rope_frequencies(config_, longest);
    const std::int64_t half = config_.head_dim / 2;
    const at::Tensor angles = at::outer(at::arange(heads_NTD.size(1), at::kDouble),
                                        at::tensor(rope.inverse_frequencies, at::kFloat).to(at::kDouble));
    const at::Tensor cos = at::cos(angles) * rope.attention_scaling, sin = at::sin(angles) * rope.attention_scaling;
    const at::Tensor a = heads_NTD.narrow(2, 0, half), b = heads_NTD.narrow(2, half, half);
    return at::cat({a * cos - b * sin, b * cos + a * sin}, 2);
  }

  at::Tensor attention(const at::Tensor& x, const std::string& name, std::int64_t longest) const {
    const std::int64_t length = x.size(0);
    const auto heads = [&](const char* which, std::int64_t count) {
      return project(x, name + which).view({length, count, config_.head_dim}).transpose(0, 1);
    };
    const std::int64_t group = config_.num_attention_heads / config_.num_key_value_heads;
    const at::Tensor q = rotate(heads("q_proj", config_.num_attention_heads), longest);
    const at::Tensor k = rotate(heads("k_proj", config_.num_key_value_heads), longest).repeat_interleave(group, 0);
    const at::Tensor v = heads("v_proj", config_.num_key_value_heads).repeat_interleave(group, 0);
    const at::Tensor future = at::ones({length, length}, at::kBool).triu(1);
    const at::Tensor scores = (at::matmul(q, k.transpose(1, 2)) / std::sqrt(static_cast<double>(config_.head_dim)))
                                  .masked_fill(future, -INFINITY);
    return project(at::matmul(at::softmax(scores, 2), v).transpose(0, 1).reshape({length, -1}), name + "o_proj");
  }

  const architecture::ModelConfig& config_;
  const Parameters& parameters_;
};

}  // namespace athanor::model::testing
