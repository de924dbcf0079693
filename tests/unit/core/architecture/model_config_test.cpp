#include "core/architecture/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"

namespace athanor::architecture {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ModelConfig parse(const std::string& text) {
  return parse_model_config(base::parse_json(text, "config.json"), "config.json");
}

std::vector<base::Problem> problems_of(const std::string& text) {
  try {
    parse(text);
  } catch (const base::UserError& error) {
    return error.problems();
  }
  return {};
}

// A small Llama configuration with `more` in front.
std::string llama(const std::string& more) {
  return "{" + more + R"("model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "vocab_size": 512})";
}

std::string qwen2(const std::string& more) {
  return "{" + more +
         R"("model_type": "qwen2", "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 512})";
}

TEST(ModelConfig, ReadsDeepSeekLlm) {
  const ModelConfig config = parse(R"({
  "architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0, "bos_token_id": 100000,
  "eos_token_id": 100001, "hidden_act": "silu", "hidden_size": 8192, "initializer_range": 0.006,
  "intermediate_size": 22016, "max_position_embeddings": 4096, "model_type": "llama", "num_attention_heads": 64,
  "num_hidden_layers": 95, "num_key_value_heads": 8, "pretraining_tp": 1, "rms_norm_eps": 1e-06, "rope_scaling": null,
  "rope_theta": 10000.0, "tie_word_embeddings": false, "torch_dtype": "bfloat16", "transformers_version": "4.33.1",
  "use_cache": true, "vocab_size": 102400})");
  EXPECT_EQ(config.family, Family::kLlama);
  EXPECT_EQ(config.hidden_size, 8192);
  EXPECT_EQ(config.num_key_value_heads, 8);
  EXPECT_EQ(config.head_dim, 128);
  EXPECT_EQ(config.initializer_range, 0.006);
  EXPECT_EQ(config.rms_norm_eps, 1e-6);
  EXPECT_EQ(config.dtype, "bfloat16");
  EXPECT_EQ(config.bos_token_id, 100000);
  EXPECT_THAT(config.eos_token_ids, ElementsAre(100001));
  EXPECT_EQ(config.rope.type, RopeType::kDefault);
  EXPECT_FALSE(config.qkv_bias);
  EXPECT_EQ(count_parameters(config), 67425001472);
  EXPECT_EQ(config.source.find("transformers_version")->as_string(), "4.33.1");
}

TEST(ModelConfig, ReadsDeepSeekCoderAndItsRewriteByTransformers5) {
  for (
      const std::string rope :
      {R"("rope_scaling": {"factor": 4.0, "type": "linear"}, "rope_theta": 100000, "torch_dtype": "bfloat16")",
       R"("rope_parameters": {"factor": 4.0, "rope_theta": 100000, "rope_type": "linear", "type": "linear"}, "dtype": "bfloat16")"}) {
    const ModelConfig config =
        parse("{" + rope + R"(, "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096,
      "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
      "vocab_size": 32256, "max_position_embeddings": 16384, "bos_token_id": 32013, "eos_token_id": 32014})");
    EXPECT_EQ(config.rope.type, RopeType::kLinear);
    EXPECT_EQ(config.rope.factor, 4.0);
    EXPECT_EQ(config.rope.theta, 100000.0);
    EXPECT_EQ(config.dtype, "bfloat16");
  }
}

TEST(ModelConfig, ReadsTheDistilledQwenWithItsUnusedWindow) {
  const ModelConfig config =
      parse(R"({"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "attention_dropout": 0.0,
    "bos_token_id": 151643, "eos_token_id": 151643, "hidden_act": "silu", "hidden_size": 1536, "intermediate_size": 8960,
    "max_position_embeddings": 131072, "max_window_layers": 21, "num_attention_heads": 12, "num_hidden_layers": 28,
    "num_key_value_heads": 2, "rms_norm_eps": 1e-06, "rope_theta": 10000, "sliding_window": 4096,
    "tie_word_embeddings": false, "torch_dtype": "bfloat16", "use_mrope": false, "use_sliding_window": false,
    "vocab_size": 151936})");
  EXPECT_EQ(config.family, Family::kQwen2);
  EXPECT_TRUE(config.qkv_bias);
  EXPECT_FALSE(config.output_bias);
  EXPECT_EQ(config.head_dim, 128);
  EXPECT_EQ(count_parameters(config), 1777088000);
}

TEST(ModelConfig, WhatIsNotWrittenHasTheClassDefaultsOfTransformers) {
  const ModelConfig llama_config = parse(R"({"model_type": "llama"})");
  EXPECT_EQ(llama_config.vocab_size, 32000);
  EXPECT_EQ(llama_config.hidden_size, 4096);
  EXPECT_EQ(llama_config.intermediate_size, 11008);
  EXPECT_EQ(llama_config.num_hidden_layers, 32);
  EXPECT_EQ(llama_config.num_key_value_heads, 32);
  EXPECT_EQ(llama_config.max_position_embeddings, 2048);
  EXPECT_EQ(llama_config.bos_token_id, 1);
  EXPECT_THAT(llama_config.eos_token_ids, ElementsAre(2));
  EXPECT_EQ(llama_config.dtype, "");

  const ModelConfig qwen = parse(R"({"architectures": ["Qwen2ForCausalLM"]})");
  EXPECT_EQ(qwen.vocab_size, 151936);
  EXPECT_EQ(qwen.intermediate_size, 22016);
  EXPECT_EQ(qwen.max_position_embeddings, 32768);
  EXPECT_EQ(qwen.bos_token_id, std::nullopt);
  EXPECT_THAT(qwen.eos_token_ids, IsEmpty());
}

TEST(ModelConfig, NullMeansNotWrittenExceptForKeyValueHeadsAndIds) {
  const ModelConfig config = parse(llama(R"("num_key_value_heads": null, "head_dim": null, "bos_token_id": null,
    "eos_token_id": [3, 4], "pad_token_id": -1, "torch_dtype": null, )"));
  EXPECT_EQ(config.num_key_value_heads, 4);
  EXPECT_EQ(config.head_dim, 16);
  EXPECT_EQ(config.bos_token_id, std::nullopt);
  EXPECT_THAT(config.eos_token_ids, ElementsAre(3, 4));
  EXPECT_EQ(config.pad_token_id, std::nullopt);
  EXPECT_EQ(
      parse(R"({"model_type": "qwen2", "num_attention_heads": 8, "num_key_value_heads": null})").num_key_value_heads,
      8);
}

TEST(ModelConfig, HeadSizeMayBeWritten) {
  const ModelConfig config = parse(llama(R"("head_dim": 128, "num_key_value_heads": 1, )"));
  EXPECT_EQ(config.head_dim, 128);
  // transformers' Qwen2 takes an uneven hidden_size when the head size is written; its Llama does not.
  EXPECT_EQ(parse(R"({"model_type": "qwen2", "hidden_size": 66, "num_attention_heads": 4, "num_key_value_heads": 4,
                      "head_dim": 16})")
                .head_dim,
            16);
  EXPECT_THAT(
      problems_of(R"({"model_type": "llama", "hidden_size": 66, "num_attention_heads": 4, "head_dim": 16})").at(0).what,
      HasSubstr("hidden_size is 66"));
}

TEST(ModelConfig, AWindowThatNoLayerUsesIsTaken) {
  EXPECT_EQ(
      parse(qwen2(R"("use_sliding_window": true, "num_hidden_layers": 4, "max_window_layers": 4, )")).num_hidden_layers,
      4);
  EXPECT_EQ(parse(qwen2(R"("use_sliding_window": true, "sliding_window": null, )")).hidden_size, 64);
  EXPECT_EQ(parse(qwen2(R"("layer_types": ["full_attention", "full_attention"], )")).hidden_size, 64);
}

struct Refusal {
  const char* text;
  const char* what;
  const char* remedy;
};

class RefusedConfig : public ::testing::TestWithParam<Refusal> {};

TEST_P(RefusedConfig, NamesTheKeyAndWhatToDo) {
  const auto problems = problems_of(GetParam().text);
  ASSERT_EQ(problems.size(), 1u) << GetParam().text;
  EXPECT_THAT(problems[0].what, HasSubstr(GetParam().what));
  EXPECT_THAT(problems[0].remedy, HasSubstr(GetParam().remedy));
  EXPECT_THAT(problems[0].where, HasSubstr("config.json"));
}

INSTANTIATE_TEST_SUITE_P(
    ModelConfig, RefusedConfig,
    ::testing::Values(
        Refusal{R"({"architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3"})",
                "architectures is DeepseekV3ForCausalLM, which this version does not support", "LlamaForCausalLM"},
        Refusal{R"({"architectures": ["LlamaForCasualLM"]})", "LlamaForCasualLM", "did you mean LlamaForCausalLM?"},
        Refusal{R"({"model_type": "gpt2"})", "model_type is gpt2", "LlamaForCausalLM"},
        Refusal{R"({"architectures": ["LlamaForCausalLM"], "model_type": "qwen2"})", "model_type is qwen2", "llama"},
        Refusal{R"({"hidden_size": 64})", "neither architectures nor model_type", "architectures"},
        Refusal{"[]", "no config.json", "config.json"},
        Refusal{R"({"model_type": "llama", "hidden_size": 66, "num_attention_heads": 4})", "hidden_size is 66",
                "change"},
        Refusal{R"({"model_type": "llama", "hidden_size": 60, "num_attention_heads": 4})", "head_dim is 15", "even"},
        Refusal{R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 3})",
                "num_key_value_heads is 3, which does not divide num_attention_heads 4", "divisor"},
        Refusal{R"({"model_type": "llama", "num_attention_heads": 0})", "num_attention_heads is 0", "whole number"},
        Refusal{R"({"model_type": "llama", "hidden_size": "4096"})", "hidden_size is \"4096\"", "whole number"},
        Refusal{R"({"model_type": "llama", "hidden_size": 4096.5})", "hidden_size is 4096.5", "whole number"},
        Refusal{R"({"model_type": "llama", "vocab_size": 99999999999})", "vocab_size is 99999999999", "whole number"},
        Refusal{R"({"model_type": "llama", "num_hidden_layers": 100000})", "num_hidden_layers is 100000", "fewer"},
        Refusal{
            R"({"model_type": "llama", "vocab_size": 2000000000, "hidden_size": 2000000000, "num_attention_heads": 20000000})",
            "parameters", "check the sizes"},
        Refusal{R"({"model_type": "llama", "hidden_act": "gelu"})", "hidden_act is gelu", "silu"},
        Refusal{R"({"model_type": "llama", "attention_dropout": 0.1})", "attention_dropout",
                "set attention_dropout to 0.0"},
        Refusal{R"({"model_type": "llama", "quantization_config": {"quant_method": "fp8"}})", "quantization_config",
                "bfloat16"},
        Refusal{R"({"model_type": "llama", "tie_word_embeddings": 1})", "tie_word_embeddings is 1", "true or false"},
        Refusal{R"({"model_type": "llama", "rms_norm_eps": -1})", "rms_norm_eps is below 0", "1e-6"},
        Refusal{R"({"model_type": "llama", "initializer_range": 2})", "initializer_range", "0.02"},
        Refusal{R"({"model_type": "llama", "torch_dtype": "float64"})", "torch_dtype is float64", "bfloat16"},
        Refusal{R"({"model_type": "llama", "vocab_size": 100, "eos_token_id": 100})",
                "eos_token_id is 100, the tokens are 0 to 99", "null"},
        Refusal{R"({"model_type": "llama", "eos_token_id": [1, "x"]})", "eos_token_id is \"x\"", "id of the tokenizer"},
        Refusal{R"({"model_type": "qwen2", "use_sliding_window": true})", "use_sliding_window", "false"},
        Refusal{R"({"model_type": "qwen2", "layer_types": ["full_attention", "sliding_attention"]})", "layer_types",
                "sliding windows"},
        Refusal{R"({"model_type": "llama", "rope_theta": 0})", "rope_theta is not above 0", "10000"},
        Refusal{R"({"model_type": "llama", "rope_scaling": {"type": "longrope", "factor": 4}})", "type is longrope",
                "default, linear, dynamic, yarn, llama3"},
        Refusal{R"({"model_type": "llama", "rope_scaling": {"type": "linear"}})", "rope_scaling has no factor",
                "factor"},
        Refusal{R"({"model_type": "llama", "rope_scaling": {"factor": 4.0}})", "no rope_type", "rope_type"},
        Refusal{R"({"model_type": "llama", "rope_scaling": {"type": "linear", "factor": -4}})", "factor is not above 0",
                "factor"},
        Refusal{R"({"model_type": "llama", "rope_scaling": {"type": "linear", "fcator": 4, "factor": 4}})",
                "fcator in rope_scaling", "did you mean factor?"},
        Refusal{R"({"model_type": "llama", "rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.5}})",
                "partial_rotary_factor", "another model"},
        Refusal{
            R"({"model_type": "llama", "rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 1}})",
            "no high_freq_factor", "high_freq_factor"},
        Refusal{
            R"({"model_type": "llama", "rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 4, "high_freq_factor": 1}})",
            "high_freq_factor", "low_freq_factor < high_freq_factor"},
        Refusal{R"({"model_type": "llama", "rope_scaling": 4})", "rope_scaling is no object", "null"}));

TEST(ModelConfig, EveryProblemIsShownAtOnceWithItsPlace) {
  const auto problems = problems_of(
      "{\"model_type\": \"llama\",\n  \"hidden_act\": \"gelu\",\n  \"rope_scaling\": {\n"
      "    \"type\": \"yarn\", \"factor\": 0},\n  \"num_key_value_heads\": 5}");
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_EQ(problems[0].where, "config.json:5:26");
  EXPECT_EQ(problems[1].where, "config.json:4:31");
  EXPECT_EQ(problems[2].where, "config.json:2:17");
}

}  // namespace
}  // namespace athanor::architecture
