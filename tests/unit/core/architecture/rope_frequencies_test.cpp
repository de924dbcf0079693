#include <gtest/gtest.h>

#include <cmath>

#include "core/architecture/model_config.h"
#include "core/base/json.h"

namespace athanor::architecture {
namespace {

// The reference computes powers in fp32 to about one unit in the last place (6e-8 relative), then three to five roundings more.
constexpr double kFrequencyTolerance = 4e-7;

TEST(RopeFrequencies, AgreeWithTransformersForEveryType) {
  const base::JsonValue json =
      base::parse_json_file(std::string(ATHANOR_SOURCE_DIR) + "/tests/parity/rope/expected.json");
  ASSERT_GE(json.find("cases")->items().size(), 30u);
  for (const base::JsonValue& one : json.find("cases")->items()) {
    SCOPED_TRACE(one.find("config")->dump());
    const ModelConfig config = parse_model_config(*one.find("config"), "config.json");
    const RopeFrequencies rope = rope_frequencies(config, one.find("sequence_length")->as_integer());
    const auto& expected = one.find("inverse_frequencies")->items();
    ASSERT_EQ(rope.inverse_frequencies.size(), expected.size());
    ASSERT_EQ(static_cast<std::int64_t>(expected.size()) * 2, config.head_dim);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double value = expected[i].as_double();
      EXPECT_NEAR(rope.inverse_frequencies[i], value, kFrequencyTolerance * std::abs(value)) << "pair " << i;
    }
    EXPECT_NEAR(rope.attention_scaling, one.find("attention_scaling")->as_double(), 1e-12);
  }
}

TEST(RopeFrequencies, OnlyDynamicDependsOnTheLength) {
  const auto first = [](const std::string& rope, std::int64_t length) {
    const std::string text = R"({"model_type": "llama", "max_position_embeddings": 64, "rope_scaling": )" + rope + "}";
    return rope_frequencies(parse_model_config(base::parse_json(text, "config.json"), "config.json"), length)
        .inverse_frequencies.back();
  };
  const std::string dynamic = R"({"type": "dynamic", "factor": 2})";
  EXPECT_EQ(first(dynamic, 1), first(dynamic, 64));
  EXPECT_LT(first(dynamic, 65), first(dynamic, 64));
  const std::string linear = R"({"type": "linear", "factor": 2})";
  EXPECT_EQ(first(linear, 1), first(linear, 6400));
}

}  // namespace
}  // namespace athanor::architecture
