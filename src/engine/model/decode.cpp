// Generation: the same layers, with attention that looks at a cache.
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>

#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "engine/model/kv_cache.h"
#include "engine/model/pass.h"
#include "engine/ops/attention.h"

namespace athanor::model {

KvCache::KvCache(const architecture::ModelConfig& config, std::int64_t room, const at::TensorOptions& options)
    : room_(room) {
  for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
    layers_.push_back({at::empty({room, config.num_key_value_heads, config.head_dim}, options),
                       at::empty({room, config.num_key_value_heads, config.head_dim}, options)});
  }
}

at::Tensor Model::Pass::decode_step(std::span<const std::int32_t> tokens, KvCache& cache, UnitStore& store) {
  const auto count = static_cast<std::int64_t>(tokens.size());
  const std::int64_t before = cache.num_tokens();
  ATHANOR_CHECK(count > 0 && before + count <= cache.room(), "the cache has no room for these tokens");
  ATHANOR_CHECK(count == 1 || before == 0, "several tokens at once only on an empty cache");
  std::vector<std::int32_t> positions(tokens.size());
  std::iota(positions.begin(), positions.end(), static_cast<std::int32_t>(before));
  const std::vector<std::int32_t> starts = {0, static_cast<std::int32_t>(count)};
  const Input input = prepare(tokens, positions, starts, before + count);

  const std::int64_t query = config_.num_attention_heads * config_.head_dim;
  const std::int64_t key_value = config_.num_key_value_heads * config_.head_dim;
  const ops::AttentionShape shape{config_.num_attention_heads, config_.num_key_value_heads, config_.head_dim,
                                  1.0 / std::sqrt(static_cast<double>(config_.head_dim))};
  const auto attend_of_layer = [&](std::int64_t layer) -> Attend {
    return [&, layer](const at::Tensor& qkv_TQ, const at::Tensor& attention_TA) {
      KvCache::Layer& cached = cache.layer(layer);
      const std::vector<std::int64_t> heads = {count, config_.num_key_value_heads, config_.head_dim};
      cached.k_TKD.narrow(0, before, count).copy_(qkv_TQ.narrow(1, query, key_value).reshape(heads));
      cached.v_TKD.narrow(0, before, count).copy_(qkv_TQ.narrow(1, query + key_value, key_value).reshape(heads));
      if (before == 0 && count > 1) {
        const at::Tensor logsumexp =
            scratch_.logsumexp.shaped({config_.num_attention_heads, count}, tensor_options_.dtype(at::kFloat));
        ops::attention_forward(qkv_TQ, starts, shape, attention_TA, logsumexp);
      } else {
        ops::attention_decode(qkv_TQ.narrow(1, 0, query).contiguous(), cached.k_TKD.narrow(0, 0, before + count),
                              cached.v_TKD.narrow(0, 0, before + count), shape, attention_TA);
      }
    };
  };
  run_forward(input, store, Keep::kNothing, std::nullopt, attend_of_layer);
  cache.advance(count);
  const HeadWeights head = acquire_head(store);
  at::Tensor logits = at::matmul(head.projection_VH, work_.normed_TH.select(0, count - 1)).to(at::kFloat);
  release_head(store);
  return logits;
}

}  // namespace athanor::model
