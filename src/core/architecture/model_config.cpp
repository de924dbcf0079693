// config.json -> ModelConfig, with the class defaults of transformers' LlamaConfig and Qwen2Config for what is not written.
#include "core/architecture/model_config.h"

#include <fmt/format.h>

#include <array>

#include "core/architecture/config_fields.h"
#include "core/architecture/rope_config.h"
#include "core/base/nearest.h"
#include "core/formats/dtype.h"

namespace athanor::architecture {
namespace {

struct FamilyDefaults {
  Family family;
  const char* architecture;
  const char* model_type;
  std::int64_t vocab_size;
  std::int64_t intermediate_size;
  std::int64_t max_position_embeddings;
  std::optional<std::int64_t> num_key_value_heads;
  std::optional<std::int64_t> bos_token_id;
  std::optional<std::int64_t> eos_token_id;
};

constexpr std::array<FamilyDefaults, 2> kFamilies = {{
    {Family::kLlama, "LlamaForCausalLM", "llama", 32000, 11008, 2048, std::nullopt, 1, 2},
    {Family::kQwen2, "Qwen2ForCausalLM", "qwen2", 151936, 22016, 32768, 32, std::nullopt, std::nullopt},
}};
constexpr std::int64_t kDefaultHiddenSize = 4096;
constexpr std::int64_t kDefaultLayers = 32;
constexpr std::int64_t kDefaultHeads = 32;

constexpr const char* kSupported =
    "use a model with LlamaForCausalLM (deepseek-llm, deepseek-coder, deepseek-math, R1-Distill-Llama) or "
    "Qwen2ForCausalLM (R1-Distill-Qwen)";

// More layers or elements than these are a slip of the pen; the limits keep all arithmetic in 64 bits.
constexpr std::int64_t kMostLayers = 65536;
constexpr double kMostParameters = 1e16;

[[noreturn]] void refuse_family(const ConfigFields& fields, const char* key, const std::string& value) {
  std::vector<std::string> names;
  names.reserve(kFamilies.size());
  for (const FamilyDefaults& family : kFamilies) {
    names.emplace_back(std::string_view(key) == "model_type" ? family.model_type : family.architecture);
  }
  const auto nearest = base::nearest_name(value, names);
  fields.refuse(key, fmt::format("is {}, which this version does not support", value),
                nearest ? fmt::format("did you mean {}?", *nearest) : kSupported);
  throw base::UserError(fields.problems().list());
}

// By architectures where it is written, else by model_type. Other families mean other keys, so reading ends here for them.
const FamilyDefaults& read_family(const ConfigFields& fields) {
  const base::JsonValue* const list = fields.find("architectures");
  const std::string model_type = fields.text("model_type", "");
  if (list != nullptr && list->is_array() && !list->items().empty()) {
    const base::JsonValue& first = list->items().front();
    if (!first.is_string()) refuse_family(fields, "architectures", first.dump());
    for (const FamilyDefaults& family : kFamilies) {
      if (first.as_string() != family.architecture) continue;
      if (!model_type.empty() && model_type != family.model_type) {
        fields.refuse("model_type", fmt::format("is {} and architectures says {}", model_type, family.architecture),
                      fmt::format("set model_type to {}, or correct architectures", family.model_type));
      }
      return family;
    }
    refuse_family(fields, "architectures", first.as_string());
  }
  for (const FamilyDefaults& family : kFamilies) {
    if (model_type == family.model_type) return family;
  }
  if (!model_type.empty()) refuse_family(fields, "model_type", model_type);
  fields.problems().add("this config.json has neither architectures nor model_type", fields.name(),
                        "add \"architectures\": [\"LlamaForCausalLM\"] and \"model_type\": \"llama\"");
  throw base::UserError(fields.problems().list());
}

class ModelReader {
 public:
  ModelReader(const ConfigFields& fields, const FamilyDefaults& family) : fields_(fields), family_(family) {
    config_.family = family.family;
  }

  ModelConfig read() {
    read_shape();
    read_biases();
    read_training_values();
    read_token_ids();
    config_.rope = parse_rope_config(fields_, config_.max_position_embeddings, config_.head_dim);
    refuse_what_is_not_done();
    fields_.problems().throw_if_any();
    check_total();
    fields_.problems().throw_if_any();
    return std::move(config_);
  }

 private:
  void read_shape() {
    const std::size_t num_problems = fields_.problems().list().size();
    config_.vocab_size = fields_.count("vocab_size", family_.vocab_size);
    config_.hidden_size = fields_.count("hidden_size", kDefaultHiddenSize);
    config_.intermediate_size = fields_.count("intermediate_size", family_.intermediate_size);
    config_.num_hidden_layers = fields_.count("num_hidden_layers", kDefaultLayers);
    config_.num_attention_heads = fields_.count("num_attention_heads", kDefaultHeads);
    config_.max_position_embeddings = fields_.count("max_position_embeddings", family_.max_position_embeddings);
    // Written as null it means as many as query heads; Qwen2's default when it is not written is a number.
    const bool written = fields_.object().find("num_key_value_heads") != nullptr;
    const std::int64_t kv_default =
        written ? config_.num_attention_heads : family_.num_key_value_heads.value_or(config_.num_attention_heads);
    config_.num_key_value_heads = fields_.count("num_key_value_heads", kv_default);
    config_.head_dim = fields_.count("head_dim", config_.hidden_size / config_.num_attention_heads);
    // Sizes that could not be read have fallbacks, about which nothing should be said.
    if (fields_.problems().list().size() == num_problems) check_shape();
  }

  void check_shape() {
    const bool derived = !fields_.has("head_dim");
    if ((derived || config_.family == Family::kLlama) && config_.hidden_size % config_.num_attention_heads != 0) {
      fields_.refuse("hidden_size",
                     fmt::format("is {}, which is no multiple of num_attention_heads {}", config_.hidden_size,
                                 config_.num_attention_heads),
                     "change one of the two");
    } else if (config_.head_dim % 2 != 0 || config_.head_dim == 0) {
      fields_.refuse("head_dim", fmt::format("is {}, rotary embeddings need pairs of dimensions", config_.head_dim),
                     "choose hidden_size and num_attention_heads so that head_dim is even");
    }
    if (config_.num_attention_heads % config_.num_key_value_heads != 0) {
      fields_.refuse("num_key_value_heads",
                     fmt::format("is {}, which does not divide num_attention_heads {}", config_.num_key_value_heads,
                                 config_.num_attention_heads),
                     "choose a divisor of num_attention_heads");
    }
    if (config_.num_hidden_layers > kMostLayers) {
      fields_.refuse("num_hidden_layers", fmt::format("is {}, {} is the most", config_.num_hidden_layers, kMostLayers),
                     "use fewer layers");
    }
  }

  void read_biases() {
    if (config_.family == Family::kQwen2) {
      config_.qkv_bias = true;
      return;
    }
    config_.qkv_bias = config_.output_bias = fields_.flag("attention_bias", false);
    config_.mlp_bias = fields_.flag("mlp_bias", false);
  }

  void read_training_values() {
    config_.rms_norm_eps = fields_.number("rms_norm_eps", 1e-6);
    if (!(config_.rms_norm_eps >= 0)) fields_.refuse("rms_norm_eps", "is below 0", "set rms_norm_eps, 1e-6 is usual");
    config_.initializer_range = fields_.number("initializer_range", 0.02);
    if (!(config_.initializer_range >= 0 && config_.initializer_range <= 1)) {
      fields_.refuse("initializer_range", "is not between 0 and 1", "set initializer_range, 0.02 is usual");
    }
    if (config_.initializer_range == 0) config_.initializer_range = 0.02;  // as in transformers
    config_.tie_word_embeddings = fields_.flag("tie_word_embeddings", false);
    // transformers 5 writes dtype; where both stand it wins.
    const char* const key = fields_.has("dtype") ? "dtype" : "torch_dtype";
    config_.dtype = fields_.text(key, "");
    if (!config_.dtype.empty() && !formats::find_torch_dtype(config_.dtype)) {
      fields_.refuse(key, fmt::format("is {}, which weights cannot have here", config_.dtype),
                     "use float32, bfloat16 or float16");
    }
  }

  void read_token_ids() {
    config_.bos_token_id = read_id("bos_token_id", family_.bos_token_id);
    config_.pad_token_id = read_id("pad_token_id", std::nullopt);
    const base::JsonValue* const eos = fields_.find("eos_token_id");
    if (eos != nullptr && eos->is_array()) {
      for (const base::JsonValue& item : eos->items()) {
        if (const auto id = check_id("eos_token_id", item)) config_.eos_token_ids.push_back(*id);
      }
    } else if (const auto id = read_id("eos_token_id", family_.eos_token_id)) {
      config_.eos_token_ids.push_back(*id);
    }
  }

  std::optional<std::int64_t> read_id(const char* key, std::optional<std::int64_t> fallback) {
    if (fields_.object().find(key) == nullptr) return fallback;
    const base::JsonValue* const value = fields_.find(key);
    return value == nullptr ? std::nullopt : check_id(key, *value);
  }

  std::optional<std::int64_t> check_id(const char* key, const base::JsonValue& value) {
    // Older Llama configurations write -1 for no padding token.
    if (value.is_integer() && value.as_integer() == -1) return std::nullopt;
    if (value.is_integer() && value.as_integer() >= 0 && value.as_integer() < config_.vocab_size) {
      return value.as_integer();
    }
    fields_.refuse(key, fmt::format("is {}, the tokens are 0 to {}", value.dump(), config_.vocab_size - 1),
                   fmt::format("set {} to an id of the tokenizer, or to null", key));
    return std::nullopt;
  }

  void refuse_what_is_not_done() {
    const std::string act = fields_.text("hidden_act", "silu");
    if (act != "silu" && act != "swish") {
      fields_.refuse("hidden_act", fmt::format("is {}, which is not supported", act), "use a model with silu");
    }
    if (fields_.number("attention_dropout", 0.0) != 0) {
      fields_.refuse("attention_dropout", "is not 0, dropout is not supported", "set attention_dropout to 0.0");
    }
    if (fields_.has("quantization_config")) {
      fields_.refuse("quantization_config", "is set, quantised weights cannot be trained here",
                     "convert the model to bfloat16 first, or use its unquantised release");
    }
    if (config_.family == Family::kQwen2) refuse_sliding_window();
  }

  void refuse_sliding_window() {
    const base::JsonValue* const types = fields_.find("layer_types");
    if (types != nullptr && types->is_array()) {
      for (const base::JsonValue& type : types->items()) {
        if (type.is_string() && (type.as_string() == "full_attention" || type.as_string() == "attention")) continue;
        fields_.refuse("layer_types", fmt::format("holds {}, only full_attention is supported", type.dump()),
                       "use a model without sliding windows");
        return;
      }
    } else if (fields_.flag("use_sliding_window", false) &&
               (fields_.object().find("sliding_window") == nullptr || fields_.has("sliding_window")) &&
               fields_.count("max_window_layers", 28, 0) < config_.num_hidden_layers) {
      fields_.refuse("use_sliding_window", "is true, attention in a sliding window is not supported",
                     "set use_sliding_window to false, or use a model without sliding windows");
    }
  }

  void check_total() {
    const double layer = static_cast<double>(config_.hidden_size) *
                         (2.0 * static_cast<double>(config_.num_attention_heads + config_.num_key_value_heads) *
                              static_cast<double>(config_.head_dim) +
                          3.0 * static_cast<double>(config_.intermediate_size));
    const double embedding = static_cast<double>(config_.vocab_size) * static_cast<double>(config_.hidden_size);
    const double total = layer * static_cast<double>(config_.num_hidden_layers) + 2.0 * embedding;
    if (total > kMostParameters) {
      fields_.refuse("hidden_size", fmt::format("and the other sizes give {:.3g} parameters", total),
                     "check the sizes in this config.json");
    }
  }

  const ConfigFields& fields_;
  const FamilyDefaults& family_;
  ModelConfig config_;
};

}  // namespace

ModelConfig parse_model_config(const base::JsonValue& json, const std::string& name) {
  base::Problems problems;
  if (!json.is_object()) {
    throw base::UserError(fmt::format("this is no config.json: it holds a {}", base::json_kind_name(json.kind())), name,
                          "give the config.json of a model");
  }
  const ConfigFields fields(json, name, problems);
  ModelConfig config = ModelReader(fields, read_family(fields)).read();
  config.source = json;
  return config;
}

}  // namespace athanor::architecture
