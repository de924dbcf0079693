#include "core/architecture/config_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"

namespace athanor::architecture {
namespace {

using ::testing::HasSubstr;
using Overrides = std::vector<std::pair<std::string, std::string>>;

base::JsonValue json(const std::string& text) { return base::parse_json(text, "config.json"); }
ModelConfig parse(const std::string& text) { return parse_model_config(json(text), "config.json"); }

TEST(SavedConfig, KeepsEveryKeySpellingAndOrderAndSetsTheDtype) {
  const ModelConfig old_spelling = parse(
      R"({"architectures": ["LlamaForCausalLM"], "my_key": {"a": [1, 2.50]}, "model_type": "llama", "rms_norm_eps": 1e-06,
          "rope_scaling": {"type": "linear", "factor": 4.0}, "rope_theta": 100000, "torch_dtype": "bfloat16", "use_cache": true})");
  EXPECT_EQ(
      saved_config_json(old_spelling, formats::Dtype::kFloat32).dump(),
      R"({"architectures": ["LlamaForCausalLM"], "my_key": {"a": [1, 2.50]}, "model_type": "llama", "rms_norm_eps": 1e-06, )"
      R"("rope_scaling": {"type": "linear", "factor": 4.0}, "rope_theta": 100000, "torch_dtype": "float32", "use_cache": true})");

  const ModelConfig new_spelling = parse(
      R"({"architectures": ["LlamaForCausalLM"], "dtype": "float32", "model_type": "llama", "rope_parameters": {"rope_theta": 1e4, "rope_type": "default"}})");
  EXPECT_EQ(
      saved_config_json(new_spelling, formats::Dtype::kBfloat16).dump(),
      R"({"architectures": ["LlamaForCausalLM"], "dtype": "bfloat16", "model_type": "llama", "rope_parameters": {"rope_theta": 1e4, "rope_type": "default"}})");
}

TEST(SavedConfig, AddsWhatLoadersNeed) {
  const base::JsonValue saved = saved_config_json(parse(R"({"model_type": "qwen2"})"), formats::Dtype::kFloat16);
  EXPECT_EQ(saved.find("architectures")->items()[0].as_string(), "Qwen2ForCausalLM");
  EXPECT_EQ(saved.find("torch_dtype")->as_string(), "float16");
  const base::JsonValue typed =
      saved_config_json(parse(R"({"architectures": ["LlamaForCausalLM"]})"), formats::Dtype::kFloat16);
  EXPECT_EQ(typed.find("model_type")->as_string(), "llama");
}

TEST(SavedConfig, GenerationSettingsFollowTheTokenIds) {
  EXPECT_EQ(
      default_generation_config(parse(R"({"model_type": "llama", "eos_token_id": [5, 6], "bos_token_id": 1})")).dump(),
      R"({"_from_model_config": true, "bos_token_id": 1, "eos_token_id": [5, 6]})");
  EXPECT_EQ(default_generation_config(parse(R"({"model_type": "llama", "pad_token_id": 0})")).dump(),
            R"({"_from_model_config": true, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0})");
}

TEST(ConfigOverrides, SetValuesOfEveryKind) {
  const Overrides overrides = {{"hidden_size", "256"},      {"hidden_act", "silu"},
                               {"rms_norm_eps", "1e-5"},    {"tie_word_embeddings", "true"},
                               {"pad_token_id", "null"},    {"rope_scaling.type", "linear"},
                               {"rope_scaling.factor", "2"}};
  const base::JsonValue changed =
      apply_config_overrides(json(R"({"model_type": "llama", "hidden_size": 64, "rope_scaling": null})"), overrides);
  const ModelConfig config = parse_model_config(changed, "config.json");
  EXPECT_EQ(config.hidden_size, 256);
  EXPECT_EQ(config.rms_norm_eps, 1e-5);
  EXPECT_TRUE(config.tie_word_embeddings);
  EXPECT_EQ(config.pad_token_id, std::nullopt);
  EXPECT_EQ(config.rope.type, RopeType::kLinear);
  EXPECT_EQ(config.rope.factor, 2.0);
}

TEST(ConfigOverrides, AMisspeltKeyGetsTheNearestAndAllAreShown) {
  const Overrides overrides = {{"hiden_size", "256"}, {"my_key", "1"}, {"banana", "2"}};
  try {
    apply_config_overrides(json(R"({"model_type": "llama", "my_key": 0})"), overrides);
    FAIL();
  } catch (const base::UserError& error) {
    ASSERT_EQ(error.problems().size(), 2u);
    EXPECT_EQ(error.problems()[0].remedy, "did you mean hidden_size?");
    EXPECT_THAT(error.problems()[0].where, HasSubstr("hiden_size=256"));
    EXPECT_THAT(error.problems()[1].what, HasSubstr("banana"));
  }
}

}  // namespace
}  // namespace athanor::architecture
