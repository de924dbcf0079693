// The list of a model's parameters. Names, shapes and order are those of transformers' state dict.
#include <fmt/format.h>

#include "core/architecture/model_config.h"

namespace athanor::architecture {
namespace {

class LayerLister {
 public:
  LayerLister(const ModelConfig& config, std::int64_t layer)
      : config_(config), prefix_(fmt::format("model.layers.{}.", layer)) {}

  std::vector<ParameterSpec> list() {
    const std::int64_t hidden = config_.hidden_size;
    const std::int64_t inner = config_.intermediate_size;
    const std::int64_t query = config_.num_attention_heads * config_.head_dim;
    const std::int64_t key_value = config_.num_key_value_heads * config_.head_dim;
    add_linear("self_attn.q_proj", query, hidden, config_.qkv_bias);
    add_linear("self_attn.k_proj", key_value, hidden, config_.qkv_bias);
    add_linear("self_attn.v_proj", key_value, hidden, config_.qkv_bias);
    add_linear("self_attn.o_proj", hidden, query, config_.output_bias);
    add_linear("mlp.gate_proj", inner, hidden, config_.mlp_bias);
    add_linear("mlp.up_proj", inner, hidden, config_.mlp_bias);
    add_linear("mlp.down_proj", hidden, inner, config_.mlp_bias);
    add("input_layernorm.weight", {hidden}, Initializer::kOnes);
    add("post_attention_layernorm.weight", {hidden}, Initializer::kOnes);
    return std::move(parameters_);
  }

 private:
  void add(const std::string& name, std::vector<std::int64_t> shape, Initializer initializer) {
    parameters_.push_back({prefix_ + name, std::move(shape), initializer});
  }

  void add_linear(const std::string& name, std::int64_t out, std::int64_t in, bool bias) {
    add(name + ".weight", {out, in}, Initializer::kNormal);
    if (bias) add(name + ".bias", {out}, Initializer::kZeros);
  }

  const ModelConfig& config_;
  std::string prefix_;
  std::vector<ParameterSpec> parameters_;
};

}  // namespace

std::int64_t ParameterSpec::num_elements() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

bool ParameterSpec::is_bias_or_norm() const {
  return name.ends_with(".bias") || name.find("layernorm") != std::string::npos ||
         name.find(".norm.") != std::string::npos || name.find("_norm.") != std::string::npos;
}

std::int64_t UnitSpec::num_elements() const {
  std::int64_t count = 0;
  for (const ParameterSpec& parameter : parameters) count += parameter.num_elements();
  return count;
}

std::vector<UnitSpec> list_units(const ModelConfig& config) {
  std::vector<UnitSpec> units;
  units.push_back(
      {"embedding", {{"model.embed_tokens.weight", {config.vocab_size, config.hidden_size}, Initializer::kNormal}}});
  for (std::int64_t layer = 0; layer < config.num_hidden_layers; ++layer) {
    units.push_back({fmt::format("layers.{}", layer), LayerLister(config, layer).list()});
  }
  UnitSpec head = {"head", {{"model.norm.weight", {config.hidden_size}, Initializer::kOnes}}};
  if (!config.tie_word_embeddings) {
    head.parameters.push_back({"lm_head.weight", {config.vocab_size, config.hidden_size}, Initializer::kNormal});
  }
  units.push_back(std::move(head));
  return units;
}

std::int64_t count_parameters(const ModelConfig& config) {
  std::int64_t count = 0;
  for (const UnitSpec& unit : list_units(config)) count += unit.num_elements();
  return count;
}

double training_flops_per_token(const ModelConfig& config, std::int64_t sequence_length) {
  double matrix_elements =
      static_cast<double>(config.vocab_size) * static_cast<double>(config.hidden_size);  // the head
  for (const UnitSpec& unit : list_units(config)) {
    for (const ParameterSpec& parameter : unit.parameters) {
      const bool in_layer = parameter.name.starts_with("model.layers.");
      if (in_layer && parameter.shape.size() == 2) matrix_elements += static_cast<double>(parameter.num_elements());
    }
  }
  // Scores and their product with the values, 2 x length x width each and operation pair; a token sees half of the length on
  // average.
  const double width = static_cast<double>(config.num_attention_heads * config.head_dim);
  const double attention =
      static_cast<double>(config.num_hidden_layers) * 4.0 * static_cast<double>(sequence_length) * width / 2.0;
  // Forward once; backward twice that, for the inputs and for the weights.
  return 3.0 * (2.0 * matrix_elements + attention);
}

}  // namespace athanor::architecture
