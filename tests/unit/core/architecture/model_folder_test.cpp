#include "core/architecture/model_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/architecture/config_json.h"
#include "core/base/error.h"
#include "tests/support/temporary_folder.h"

namespace athanor::architecture {
namespace {

using formats::Dtype;
using formats::TensorPlan;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string config_text(const std::string& more) {
  return "{" + more + R"("model_type": "llama", "hidden_size": 8, "intermediate_size": 12, "num_attention_heads": 2,
    "num_hidden_layers": 2, "vocab_size": 16})";
}

std::vector<TensorPlan> plans_of(const ModelConfig& config) {
  std::vector<TensorPlan> plans;
  for (const UnitSpec& unit : list_units(config)) {
    for (const ParameterSpec& parameter : unit.parameters) {
      plans.push_back({parameter.name, Dtype::kFloat32, parameter.shape});
    }
  }
  return plans;
}

// Every tensor is filled with the byte that `fill` gives for its name.
void write_weights(
    const std::string& path, const std::vector<TensorPlan>& plans,
    const std::function<char(const std::string&)>& fill = [](const std::string&) { return '\0'; }) {
  formats::SafetensorsWriter writer(path, plans);
  for (const formats::TensorInfo& tensor : writer.tensors()) {
    const std::string bytes(tensor.num_bytes(), fill(tensor.name));
    writer.write(std::as_bytes(std::span<const char>(bytes)));
  }
  writer.finish();
}

class ModelFolderTest : public ::testing::Test {
 protected:
  ModelConfig write_config(const std::string& more = "") {
    return load_model_config(folder_.write("config.json", config_text(more)));
  }
  std::vector<base::Problem> weight_problems() {
    try {
      open_model_weights(open_model_folder(folder_.path()));
    } catch (const base::UserError& error) {
      return error.problems();
    }
    return {};
  }

  testing::TemporaryFolder folder_;
};

TEST_F(ModelFolderTest, OpensWhatIsThereAndListsWhatToCopy) {
  const ModelConfig config = write_config();
  write_weights(folder_.file("model.safetensors"), plans_of(config));
  folder_.write("generation_config.json", R"({"temperature": 0.6})");
  folder_.write("tokenizer.json", "{}");
  folder_.write("tokenizer_config.json", "{}");
  folder_.write("modeling_x.py", "");
  folder_.write("README.md", "");
  const ModelFolder opened = open_model_folder(folder_.path());
  EXPECT_EQ(opened.config.hidden_size, 8);
  EXPECT_EQ(opened.generation_config->find("temperature")->as_double(), 0.6);
  EXPECT_THAT(opened.companion_files, ElementsAre("tokenizer.json", "tokenizer_config.json"));
  const ModelWeights weights = open_model_weights(opened);
  EXPECT_EQ(weights.tensor("model.norm.weight").info->num_elements(), 8);
  EXPECT_EQ(weights.prevalent_dtype(), Dtype::kFloat32);
  EXPECT_TRUE(weights.notes().empty());
}

TEST_F(ModelFolderTest, CodeIsCopiedWhenTheConfigurationNamesIt) {
  folder_.write("config.json", config_text(R"("auto_map": {"AutoConfig": "configuration_x.C"}, )"));
  folder_.write("modeling_x.py", "");
  folder_.write("configuration_x.py", "");
  EXPECT_THAT(open_model_folder(folder_.path()).companion_files, ElementsAre("configuration_x.py", "modeling_x.py"));
}

TEST_F(ModelFolderTest, EveryDifferenceIsListedAtOnce) {
  const ModelConfig config = write_config();
  std::vector<TensorPlan> plans = plans_of(config);
  std::erase_if(plans, [](const TensorPlan& plan) {
    return plan.name == "model.layers.1.mlp.up_proj.weight" || plan.name == "lm_head.weight";
  });
  for (TensorPlan& plan : plans) {
    if (plan.name == "model.norm.weight") plan.shape = {9};
    if (plan.name == "model.layers.0.mlp.down_proj.weight") plan.shape = {12, 8};
    if (plan.name == "model.embed_tokens.weight") plan.dtype = Dtype::kFloat8E4M3;
  }
  plans.push_back({"model.layers.2.mlp.up_proj.weight", Dtype::kFloat32, {12, 8}});
  write_weights(folder_.file("model.safetensors"), plans);

  const auto problems = weight_problems();
  ASSERT_EQ(problems.size(), 4u);
  EXPECT_THAT(problems[0].what, HasSubstr("2 tensors are missing"));
  EXPECT_THAT(problems[0].what, HasSubstr("model.layers.1.mlp.up_proj.weight [12, 8]"));
  EXPECT_THAT(problems[0].what, HasSubstr("lm_head.weight [16, 8]"));
  EXPECT_THAT(problems[1].what, HasSubstr("model.norm.weight is [9], config.json asks for [8]"));
  EXPECT_THAT(problems[1].what,
              HasSubstr("model.layers.0.mlp.down_proj.weight is [12, 8], config.json asks for [8, 12]"));
  EXPECT_THAT(problems[2].what, HasSubstr("model.embed_tokens.weight is F8_E4M3"));
  EXPECT_THAT(problems[3].what, HasSubstr("one tensor is in the files and not in the model"));
  EXPECT_THAT(problems[3].what, HasSubstr("model.layers.2.mlp.up_proj.weight"));
}

TEST_F(ModelFolderTest, TypesMayDifferAndTheMostFrequentIsKept) {
  std::vector<TensorPlan> plans = plans_of(write_config());
  for (TensorPlan& plan : plans) {
    plan.dtype = plan.name.find("norm") == std::string::npos ? Dtype::kBfloat16 : Dtype::kFloat32;
  }
  write_weights(folder_.file("model.safetensors"), plans);
  EXPECT_EQ(open_model_weights(open_model_folder(folder_.path())).prevalent_dtype(), Dtype::kBfloat16);
}

TEST_F(ModelFolderTest, RotaryBuffersOfOldFilesAreIgnoredWithAWord) {
  std::vector<TensorPlan> plans = plans_of(write_config());
  plans.push_back({"model.layers.0.self_attn.rotary_emb.inv_freq", Dtype::kFloat32, {2}});
  plans.push_back({"model.layers.1.self_attn.rotary_emb.inv_freq", Dtype::kFloat32, {2}});
  write_weights(folder_.file("model.safetensors"), plans);
  const ModelWeights weights = open_model_weights(open_model_folder(folder_.path()));
  ASSERT_EQ(weights.notes().size(), 1u);
  EXPECT_THAT(weights.notes()[0], HasSubstr("2 rotary_emb.inv_freq tensors are ignored"));
}

TEST_F(ModelFolderTest, ATiedHeadMayBeAbsentEqualOrAlone) {
  const ModelConfig config = write_config(R"("tie_word_embeddings": true, )");
  const std::vector<TensorPlan> plans = plans_of(config);
  write_weights(folder_.file("model.safetensors"), plans);
  EXPECT_TRUE(open_model_weights(open_model_folder(folder_.path())).notes().empty());

  std::vector<TensorPlan> with_head = plans;
  with_head.push_back({"lm_head.weight", Dtype::kFloat32, {16, 8}});
  write_weights(folder_.file("model.safetensors"), with_head);
  EXPECT_THAT(open_model_weights(open_model_folder(folder_.path())).notes().at(0),
              HasSubstr("lm_head.weight is ignored"));

  write_weights(folder_.file("model.safetensors"), with_head,
                [](const std::string& name) { return name == "lm_head.weight" ? '\1' : '\2'; });
  EXPECT_THAT(weight_problems().at(0).what, HasSubstr("lm_head.weight differs from model.embed_tokens.weight"));

  std::erase_if(with_head, [](const TensorPlan& plan) { return plan.name == "model.embed_tokens.weight"; });
  write_weights(folder_.file("model.safetensors"), with_head);
  const ModelWeights weights = open_model_weights(open_model_folder(folder_.path()));
  EXPECT_EQ(weights.tensor("model.embed_tokens.weight").info->name, "lm_head.weight");
}

TEST_F(ModelFolderTest, PlacesThatAreNoModelAreNamed) {
  const auto problem_of = [](const std::string& path) {
    try {
      open_model_folder(path);
    } catch (const base::UserError& error) {
      return error.problems().at(0);
    }
    return base::Problem{};
  };
  EXPECT_THAT(problem_of(folder_.path()).where, HasSubstr("config.json"));
  EXPECT_THAT(problem_of(folder_.file("deepseek-ai/deepseek-llm-7b-base")).what, HasSubstr("does not exist"));
  EXPECT_THAT(problem_of(folder_.write("model.safetensors", "x")).what, HasSubstr("a model's folder is needed"));
  write_config();
  std::filesystem::remove(folder_.file("model.safetensors"));
  EXPECT_THAT(weight_problems().at(0).what, HasSubstr("model.safetensors"));
}

}  // namespace
}  // namespace athanor::architecture
