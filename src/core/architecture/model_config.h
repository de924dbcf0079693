// A decoder's shape, read from Hugging Face's config.json, and the list of its parameters, made without allocating any.
//
// Planner, loader, converter, sharder and engine all read this one list. Parameter names are Hugging Face's.
// Format: docs/formats/model_folder.md. Threads: immutable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace athanor::architecture {

enum class Family { kLlama, kQwen2 };
enum class RopeType { kDefault, kLinear, kDynamic, kYarn, kLlama3 };

// Both spellings are read: rope_scaling + rope_theta (transformers 4) and rope_parameters (transformers 5).
struct RopeConfig {
  RopeType type = RopeType::kDefault;
  double theta = 10000.0;
  double factor = 1.0;
  std::int64_t original_max_position_embeddings = 0;  // 0: not given
  double beta_fast = 32.0;                            // yarn
  double beta_slow = 1.0;                             // yarn
  std::optional<double> attention_factor;             // yarn
  std::optional<double> mscale;                       // yarn
  std::optional<double> mscale_all_dim;               // yarn
  bool truncate = true;                               // yarn
  double low_freq_factor = 1.0;                       // llama3
  double high_freq_factor = 4.0;                      // llama3
};

struct ModelConfig {
  Family family = Family::kLlama;
  std::int64_t vocab_size = 0;
  std::int64_t hidden_size = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t num_hidden_layers = 0;
  std::int64_t num_attention_heads = 0;
  std::int64_t num_key_value_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t max_position_embeddings = 0;
  double rms_norm_eps = 1e-6;
  double initializer_range = 0.02;
  bool tie_word_embeddings = false;
  bool qkv_bias = false;     // Qwen2 always; Llama with attention_bias
  bool output_bias = false;  // o_proj; Llama with attention_bias
  bool mlp_bias = false;
  RopeConfig rope;
  std::optional<std::int64_t> bos_token_id;
  std::vector<std::int64_t> eos_token_ids;
  std::optional<std::int64_t> pad_token_id;
  std::string dtype;       // "float32", "bfloat16", "float16" or "": what config.json says the weights are
  base::JsonValue source;  // config.json as read; written back as it was on save
};

// `name` is the file for messages. Fails: UserError listing every problem (missing key, impossible shape, an architecture or
// a setting that is not supported, with the nearest that is).
ModelConfig parse_model_config(const base::JsonValue& json, const std::string& name);

enum class Initializer { kNormal, kOnes, kZeros };  // normal: N(0, initializer_range)

struct ParameterSpec {
  std::string name;                 // "model.layers.0.self_attn.q_proj.weight"
  std::vector<std::int64_t> shape;  // row-major; linear weights are [out, in]
  Initializer initializer = Initializer::kNormal;
  std::int64_t num_elements() const;
  // HF Trainer exempts biases and norms from weight decay.
  bool is_bias_or_norm() const;
};

// Parameters that live, move and are freed together: the embedding, each decoder layer, the final norm with the head.
struct UnitSpec {
  std::string name;  // "embedding", "layers.0", ..., "head"
  std::vector<ParameterSpec> parameters;
  std::int64_t num_elements() const;
};

// In order: embedding, layers, head. With tied embeddings the head holds the norm alone, and lm_head.weight is the embedding.
std::vector<UnitSpec> list_units(const ModelConfig& config);
std::int64_t count_parameters(const ModelConfig& config);

// Rotary frequencies for a batch whose longest sequence has `sequence_length` tokens (dynamic NTK depends on it).
// inverse_frequencies: [head_dim / 2] fp32; cos and sin are multiplied by attention_scaling.
// Agrees with transformers' modeling_rope_utils (tests/parity/rope).
struct RopeFrequencies {
  std::vector<float> inverse_frequencies;
  double attention_scaling = 1.0;
};
RopeFrequencies rope_frequencies(const ModelConfig& config, std::int64_t sequence_length);

// Floating-point operations of one forward and backward pass over one token at this sequence length (causal attention counted
// at half, recomputation not counted): the numerator of MFU.
double training_flops_per_token(const ModelConfig& config, std::int64_t sequence_length);

}  // namespace athanor::architecture
