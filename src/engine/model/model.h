// A decoder-only transformer of the Llama family (Llama, Qwen2): forward, explicit backward, evaluation, generation.
//
// Source:  Touvron et al. 2023 (LLaMA), Qwen2 technical report 2024; agrees with transformers' LlamaForCausalLM and
//          Qwen2ForCausalLM (tests/parity/llama, llama-tied, qwen2).
// Shapes:  tokens lie end to end, [num_tokens]; only attention knows sequences (data/micro_batch.h).
// Types:   parameters, activations and the residual stream in the compute type; norm statistics, softmax, rotary angles and loss
//          in fp32.
// Memory:  saved per layer and token: 2 hidden + q|k|v + attention output + gate|up elements, or 1 hidden when activations are
//          recomputed. Buffers are kept between calls and grow to the largest micro-batch seen.
// Exact:   equal inputs give equal bits with one number of threads; recomputation changes no bit.
// Threads: confined to the training thread. Local: talks to the store only (unit_store.h gives the order of calls).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>

#include "core/architecture/model_config.h"
#include "core/data/micro_batch.h"
#include "engine/model/unit_store.h"

namespace athanor::model {

enum class Recompute { kNothing, kLayers };

struct ModelOptions {
  at::ScalarType compute_type = at::kFloat;  // kFloat, kBFloat16 or kHalf; the type of the store's parameters
  at::Device device = at::kCPU;
  Recompute recompute = Recompute::kNothing;
  // Uniform noise of size alpha / sqrt(length x hidden_size) on the embeddings in training; 0: none. A value is a pure function
  // of (noise_seed, noise_stream of the call, token, element). Source: Jain et al. 2023 (NEFTune).
  double neftune_noise_alpha = 0.0;
  std::uint64_t noise_seed = 0;
};

struct LossSum {
  double loss = 0.0;  // sum of the token losses, nats
  std::int64_t num_targets = 0;
};

// Keys and values of one sequence in generation.
class KvCache;

class Model {
 public:
  Model(const architecture::ModelConfig& config, const ModelOptions& options);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // Sum of the token losses of the micro-batch, in nats. The store's gradients get d(sum) / d(parameter) x loss_weight, so
  // loss_weight = loss scale / target tokens of the global batch. A micro-batch with no target contributes nothing: its gradient is
  // zero and nothing is computed. `noise_stream` numbers micro-batches over the whole run (used by NEFTune noise only).
  double forward_backward(const data::MicroBatch& batch, UnitStore& store, double loss_weight, GradientMode mode,
                          std::uint64_t noise_stream = 0);

  LossSum evaluate(const data::MicroBatch& batch, UnitStore& store);

  // [num_tokens, vocab_size] in the compute type.
  at::Tensor logits(const data::MicroBatch& batch, UnitStore& store);

  // Room for `max_tokens` tokens of one sequence.
  std::unique_ptr<KvCache> make_cache(std::int64_t max_tokens) const;

  // Appends tokens to the cached sequence; [vocab_size] fp32 logits for the token after the last. Several tokens at once (the
  // prompt) only on an empty cache.
  at::Tensor decode_step(std::span<const std::int32_t> tokens, KvCache& cache, UnitStore& store);

  // Bytes of activations and work buffers held now.
  std::int64_t num_buffer_bytes() const;

 private:
  class Pass;
  std::unique_ptr<Pass> pass_;
};

}  // namespace athanor::model
