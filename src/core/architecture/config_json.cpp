#include "core/architecture/config_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/nearest.h"

namespace athanor::architecture {
namespace {

using base::JsonValue;

// Keys of transformers' LlamaConfig, Qwen2Config and what all configurations have, for generation included.
const std::vector<std::string>& known_keys() {
  static const std::vector<std::string> keys = {"architectures",
                                                "attention_bias",
                                                "attention_dropout",
                                                "bos_token_id",
                                                "dtype",
                                                "eos_token_id",
                                                "head_dim",
                                                "hidden_act",
                                                "hidden_size",
                                                "initializer_range",
                                                "intermediate_size",
                                                "layer_types",
                                                "max_position_embeddings",
                                                "max_window_layers",
                                                "mlp_bias",
                                                "model_type",
                                                "num_attention_heads",
                                                "num_hidden_layers",
                                                "num_key_value_heads",
                                                "original_max_position_embeddings",
                                                "pad_token_id",
                                                "pretraining_tp",
                                                "rms_norm_eps",
                                                "rope_parameters",
                                                "rope_scaling",
                                                "rope_theta",
                                                "sliding_window",
                                                "tie_word_embeddings",
                                                "torch_dtype",
                                                "use_cache",
                                                "use_sliding_window",
                                                "vocab_size"};
  return keys;
}

JsonValue read_override_value(const std::string& text) {
  try {
    return base::parse_json(text, "");
  } catch (const base::UserError&) {
    return JsonValue(text);
  }
}

// Sets config[path[0]][path[1]]... = value; what is missing or null on the way becomes an object.
JsonValue with_value_at(const JsonValue& config, std::string_view path, const JsonValue& value) {
  JsonValue changed = config.is_object() ? config : JsonValue::object();
  const std::size_t dot = path.find('.');
  const std::string key(path.substr(0, dot));
  if (dot == std::string_view::npos) {
    changed.set(key, value);
  } else {
    const JsonValue* const inner = changed.find(key);
    changed.set(key, with_value_at(inner == nullptr ? JsonValue() : *inner, path.substr(dot + 1), value));
  }
  return changed;
}

const char* architecture_of(Family family) {
  return family == Family::kQwen2 ? "Qwen2ForCausalLM" : "LlamaForCausalLM";
}

const char* model_type_of(Family family) { return family == Family::kQwen2 ? "qwen2" : "llama"; }

}  // namespace

JsonValue apply_config_overrides(JsonValue config, std::span<const std::pair<std::string, std::string>> overrides) {
  base::Problems problems;
  for (const auto& [key, text] : overrides) {
    const std::string first = key.substr(0, key.find('.'));
    if (config.find(first) == nullptr &&
        std::find(known_keys().begin(), known_keys().end(), first) == known_keys().end()) {
      const auto nearest = base::nearest_name(first, known_keys());
      problems.add(fmt::format("{} is no key of a model's config.json", first),
                   fmt::format("--config_overrides {}={}", key, text),
                   nearest ? fmt::format("did you mean {}?", *nearest)
                           : "use a key of LlamaConfig or Qwen2Config, such as hidden_size");
      continue;
    }
    config = with_value_at(config, key, read_override_value(text));
  }
  problems.throw_if_any();
  return config;
}

JsonValue saved_config_json(const ModelConfig& config, formats::Dtype dtype) {
  JsonValue json = config.source.is_object() ? config.source : JsonValue::object();
  const char* const name = formats::torch_dtype_name(dtype);
  const bool new_spelling = json.find("dtype") != nullptr;
  const bool old_spelling = json.find("torch_dtype") != nullptr;
  if (new_spelling) json.set("dtype", name);
  if (old_spelling) json.set("torch_dtype", name);
  // torch_dtype is read by every version; rope_parameters only ever stands in files of the newer ones.
  if (!new_spelling && !old_spelling) {
    json.set(json.find("rope_parameters") != nullptr ? "dtype" : "torch_dtype", name);
  }
  const JsonValue* const architectures = json.find("architectures");
  if (architectures == nullptr || !architectures->is_array() || architectures->items().empty()) {
    json.set("architectures", JsonValue::array({JsonValue(architecture_of(config.family))}));
  }
  if (json.find("model_type") == nullptr) json.set("model_type", model_type_of(config.family));
  return json;
}

JsonValue default_generation_config(const ModelConfig& config) {
  JsonValue json = JsonValue::object();
  json.set("_from_model_config", true);
  if (config.bos_token_id) json.set("bos_token_id", *config.bos_token_id);
  if (config.eos_token_ids.size() == 1) {
    json.set("eos_token_id", config.eos_token_ids.front());
  } else if (!config.eos_token_ids.empty()) {
    JsonValue ids = JsonValue::array();
    for (const std::int64_t id : config.eos_token_ids) ids.push_back(id);
    json.set("eos_token_id", ids);
  }
  if (config.pad_token_id) json.set("pad_token_id", *config.pad_token_id);
  return json;
}

}  // namespace athanor::architecture
