#include <gtest/gtest.h>

#include "core/architecture/model_config.h"
#include "core/base/json.h"

namespace athanor::architecture {
namespace {

base::JsonValue fixture() {
  return base::parse_json_file(std::string(ATHANOR_SOURCE_DIR) + "/tests/fixtures/architecture/parameters.json");
}

TEST(Parameters, NamesShapesOrderAndDecayAreThoseOfTransformers) {
  const base::JsonValue json = fixture();
  for (const base::JsonValue& one : json.find("listed")->items()) {
    const ModelConfig config = parse_model_config(*one.find("config"), "config.json");
    std::vector<ParameterSpec> parameters;
    for (const UnitSpec& unit : list_units(config)) {
      parameters.insert(parameters.end(), unit.parameters.begin(), unit.parameters.end());
    }
    const auto& expected = one.find("parameters")->items();
    ASSERT_EQ(parameters.size(), expected.size());
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const auto& row = expected[i].items();
      EXPECT_EQ(parameters[i].name, row[0].as_string());
      std::vector<std::int64_t> shape;
      for (const base::JsonValue& extent : row[1].items()) shape.push_back(extent.as_integer());
      EXPECT_EQ(parameters[i].shape, shape) << parameters[i].name;
      EXPECT_EQ(!parameters[i].is_bias_or_norm(), row[2].as_bool()) << parameters[i].name;
    }
  }
}

TEST(Parameters, PublishedModelsHaveTheirNumber) {
  const base::JsonValue json = fixture();
  for (const base::JsonValue& one : json.find("published")->items()) {
    const ModelConfig config = parse_model_config(*one.find("config"), "config.json");
    EXPECT_EQ(count_parameters(config), one.find("num_parameters")->as_integer()) << one.find("name")->as_string();
  }
}

TEST(Parameters, InitialisersAreNormalOnesForNormsZerosForBiases) {
  const ModelConfig config = parse_model_config(
      base::parse_json(R"({"model_type": "qwen2", "num_hidden_layers": 1})", "config.json"), "config.json");
  const std::vector<UnitSpec> units = list_units(config);
  ASSERT_EQ(units.size(), 3u);
  EXPECT_EQ(units[0].name, "embedding");
  EXPECT_EQ(units[1].name, "layers.0");
  EXPECT_EQ(units[2].name, "head");
  for (const UnitSpec& unit : units) {
    for (const ParameterSpec& parameter : unit.parameters) {
      const Initializer expected = parameter.name.ends_with(".bias")                         ? Initializer::kZeros
                                   : parameter.name.find("norm.weight") != std::string::npos ? Initializer::kOnes
                                                                                             : Initializer::kNormal;
      EXPECT_EQ(parameter.initializer, expected) << parameter.name;
    }
  }
}

TEST(TrainingFlops, AreSixPerMatrixElementAndTheCausalHalfOfAttention) {
  const ModelConfig config = parse_model_config(
      base::parse_json(R"({"model_type": "llama", "hidden_size": 8, "intermediate_size": 10, "num_attention_heads": 2,
                           "num_key_value_heads": 1, "num_hidden_layers": 3, "vocab_size": 20, "tie_word_embeddings": true})",
                       "config.json"),
      "config.json");
  // A layer: q and o 8x8, k and v 4x8, three of 8x10; the head 20x8, tied or not.
  const double matrices = 3 * (2 * 64 + 2 * 32 + 3 * 80) + 160;
  const double attention = 3 * (2 * 8 * 100);
  EXPECT_EQ(training_flops_per_token(config, 100), 6 * matrices + 3 * attention);
}

}  // namespace
}  // namespace athanor::architecture
