#include "core/formats/weight_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "tests/support/temporary_folder.h"

namespace athanor::formats {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

void write_file(const std::string& path, const std::vector<std::string>& names, char fill) {
  std::vector<TensorPlan> plans;
  for (const std::string& name : names) plans.push_back({name, Dtype::kUint8, {4}});
  SafetensorsWriter writer(path, plans);
  const std::string bytes(4, fill);
  for (std::size_t i = 0; i < names.size(); ++i) writer.write(std::as_bytes(std::span<const char>(bytes)));
  writer.finish();
}

std::vector<base::Problem> problems_of(const std::string& path) {
  try {
    WeightFiles::open(path);
  } catch (const base::UserError& error) {
    return error.problems();
  }
  return {};
}

char first_byte(const WeightFiles& weights, const std::string& name) {
  const auto tensor = weights.find(name);
  return tensor ? static_cast<char>(tensor->bytes()[0]) : '\0';
}

TEST(WeightFiles, ASingleFileWinsOverAnIndex) {
  const testing::TemporaryFolder folder;
  write_file(folder.file("model.safetensors"), {"w"}, 'a');
  folder.write("model.safetensors.index.json", R"({"weight_map": {"w": "missing.safetensors"}})");
  const WeightFiles weights = WeightFiles::open(folder.path());
  EXPECT_EQ(first_byte(weights, "w"), 'a');
  EXPECT_EQ(weights.files().size(), 1u);
  EXPECT_EQ(weights.find("v"), std::nullopt);
}

TEST(WeightFiles, ShardsAreFoundByTheIndexWhateverTheirNames) {
  const testing::TemporaryFolder folder;
  write_file(folder.file("model-00001-of-000163.safetensors"), {"a", "both"}, '1');
  write_file(folder.file("other.safetensors"), {"b", "both", "not in the index"}, '2');
  folder.write("model.safetensors.index.json",
               R"({"metadata": {"total_size": 3}, "weight_map": {"a": "model-00001-of-000163.safetensors",
                   "b": "other.safetensors", "both": "model-00001-of-000163.safetensors"}})");
  const WeightFiles weights = WeightFiles::open(folder.path());
  EXPECT_EQ(first_byte(weights, "a"), '1');
  EXPECT_EQ(first_byte(weights, "b"), '2');
  EXPECT_EQ(first_byte(weights, "both"), '1');
  EXPECT_EQ(first_byte(weights, "not in the index"), '2');
  EXPECT_THAT(weights.find("b")->place(), HasSubstr("other.safetensors, byte "));
}

TEST(WeightFiles, EveryMissingOrTornShardIsNamed) {
  const testing::TemporaryFolder folder;
  write_file(folder.file("one.safetensors"), {"a"}, '1');
  folder.write("torn.safetensors", "12345678");
  folder.write("model.safetensors.index.json",
               R"({"weight_map": {"a": "one.safetensors", "b": "two.safetensors", "c": "torn.safetensors"}})");
  const auto problems = problems_of(folder.path());
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_THAT(problems[0].where, HasSubstr("torn.safetensors"));
  EXPECT_THAT(problems[1].where, HasSubstr("two.safetensors"));
}

TEST(WeightFiles, EveryTensorThatIsNotWhereTheIndexSaysIsNamed) {
  const testing::TemporaryFolder folder;
  write_file(folder.file("one.safetensors"), {"a"}, '1');
  folder.write("model.safetensors.index.json",
               R"({"weight_map": {"a": "one.safetensors", "b": "one.safetensors", "c": "one.safetensors"}})");
  const auto problems = problems_of(folder.path());
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_THAT(problems[0].what, HasSubstr("b is in one.safetensors"));
  EXPECT_THAT(problems[1].what, HasSubstr("c is in one.safetensors"));
}

TEST(WeightFiles, AnIndexThatLeadsOutOfTheFolderIsRefused) {
  const testing::TemporaryFolder folder;
  folder.write("model.safetensors.index.json",
               "{\"weight_map\": {\"a\": \"../one.safetensors\",\n \"b\": \"/etc/passwd\", \"c\": 3}}");
  const auto problems = problems_of(folder.path());
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_THAT(problems[0].what, HasSubstr("outside the model's folder"));
  EXPECT_THAT(problems[1].what, HasSubstr("outside the model's folder"));
  EXPECT_THAT(problems[1].where, HasSubstr("model.safetensors.index.json:2:7"));
  EXPECT_THAT(problems[2].what, HasSubstr("no text"));
}

TEST(WeightFiles, AFolderWithoutWeightsSaysWhatIsMissing) {
  const testing::TemporaryFolder folder;
  EXPECT_THAT(problems_of(folder.path()).at(0).what, HasSubstr("model.safetensors.index.json"));
  folder.write("pytorch_model.bin", "PK");
  EXPECT_THAT(problems_of(folder.path()).at(0).what, HasSubstr("pytorch_model.bin"));
  EXPECT_THAT(problems_of(folder.path()).at(0).remedy, HasSubstr("save_pretrained"));
  folder.write("model.safetensors.index.json", R"({"metadata": {}})");
  EXPECT_THAT(problems_of(folder.path()).at(0).what, HasSubstr("no weight_map"));
}

TEST(WeightFiles, SplitsAsTheReferenceDoes) {
  const base::JsonValue cases =
      base::parse_json_file(std::string(ATHANOR_SOURCE_DIR) + "/tests/fixtures/safetensors/shards.json");
  ASSERT_FALSE(cases.items().empty());
  for (const base::JsonValue& one : cases.items()) {
    std::vector<TensorPlan> tensors;
    for (const base::JsonValue& size : one.find("sizes")->items()) {
      tensors.push_back({"t" + std::to_string(tensors.size()), Dtype::kInt16, {size.as_integer()}});
    }
    const auto limit = static_cast<std::uint64_t>(2 * one.find("limit")->as_integer());
    const std::vector<WeightShard> shards = plan_weight_shards(tensors, limit);
    const auto& expected = one.find("files")->members();
    ASSERT_EQ(shards.size(), expected.size());
    for (std::size_t i = 0; i < shards.size(); ++i) {
      EXPECT_EQ(shards[i].file_name, expected[i].key);
      std::vector<std::string> names;
      for (const TensorPlan& tensor : shards[i].tensors) names.push_back(tensor.name);
      std::vector<std::string> expected_names;
      for (const base::JsonValue& name : expected[i].value.items()) expected_names.push_back(name.as_string());
      EXPECT_EQ(names, expected_names);
    }
    EXPECT_EQ(weight_index_json(shards), one.find("index")->as_string());
  }
}

}  // namespace
}  // namespace athanor::formats
