// RunConfig as a run folder keeps it.
#include "core/config/run_config_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/core/config/resolve_words.h"

namespace athanor::config {
namespace {

using base::JsonValue;
using ::testing::HasSubstr;

// No member has its default.
RunConfig unusual() {
  RunConfig config;
  config.model = {"m", "c", {{"hidden_size", "64"}, {"vocab_size", "9"}}, "t", true};
  config.data.train_files = {"a", "b*"};
  config.data.validation_files = {"v"};
  config.data.text_separator = "blank_line";
  config.data.chat_template = "deepseek-v3";
  config.data.text_column = "content";
  config.data.max_length = 77;
  config.data.packing = PackingMode::kOn;
  config.data.sampling = SamplingStrategy::kGroupByLength;
  config.data.tokens_per_batch = 4096;
  config.data.max_train_samples = 5;
  config.data.max_eval_samples = 6;
  config.data.data_seed = (std::int64_t{1} << 62) + 1;
  config.data.drop_last = config.data.skip_bad_lines = config.data.train_on_prompt = true;
  config.data.add_bos = config.data.add_eos = false;
  config.data.cache_dir = "cache";
  config.data.num_workers = 3;
  config.batch = {2, 3, 4, 5};
  config.length = {0.1, 12};
  config.optimizer = {OptimizerKind::kLion,     1e-3, 0.1, 0.2, 0.3, 0.4, false, 0.5, 0.6, true, DecayGroups::kAll,
                      {{"clip_threshold", 1.5}}};
  config.schedule.family = ScheduleFamily::kDeepSpeed;
  config.schedule.type = "WarmupLR";
  config.schedule.parameters.set("warmup_num_steps", "auto");
  config.schedule.warmup_steps = 0.25;
  config.schedule.warmup_ratio = 0.5;
  config.precision = {Precision::kFloat16, true, true, true, {ScalerRule::kStatic, 8, 9, 3, 0.25, 4, true, 0.125}};
  config.clipping.max_norm = 0.1 + 0.2;
  config.zero = {3, true, true};
  config.evaluation = {Interval::kEpoch, 7, 8, true};
  config.logging = {Interval::kNo, 9, true, "dir", {"tensorboard"}, "name", "all", true, true};
  config.checkpoint = {"out",  true,  Interval::kBest,      11,   12, true, "true", true,
                       "loss", false, Precision::kBfloat16, false};
  config.device = DeviceKind::kCuda;
  config.recompute_activations = true;
  config.seed = 13;
  config.neftune_noise_alpha = 5;
  config.num_threads = 2;
  return config;
}

TEST(RunConfigJson, EveryMemberSurvivesTheWayThereAndBack) {
  const JsonValue json = run_config_to_json(unusual());
  const RunConfig back = run_config_from_json(base::parse_json(json.dump(1), "config"), "config");
  EXPECT_EQ(run_config_to_json(back).dump(), json.dump());
  EXPECT_EQ(back.data.data_seed, (std::int64_t{1} << 62) + 1);
  EXPECT_EQ(back.clipping.max_norm, 0.1 + 0.2);
  EXPECT_EQ(back.checkpoint.greater_is_better, false);
  EXPECT_EQ(back.model.config_overrides[1].second, "9");
  EXPECT_EQ(back.optimizer.adafactor.at("clip_threshold"), 1.5);
}

// Leaves of two JSON trees that are equal although they should not be.
void count_equal_leaves(const JsonValue& one, const JsonValue& other, const std::string& path, std::string& equal) {
  if (!one.is_object() || one.members().empty()) {
    if (one.dump() == other.dump()) equal += path + " ";
    return;
  }
  for (const base::JsonMember& member : one.members()) {
    const JsonValue* partner = other.find(member.key);
    if (partner != nullptr) count_equal_leaves(member.value, *partner, path + "." + member.key, equal);
  }
}

TEST(RunConfigJson, TheTestAboveLeavesNoMemberAtItsDefault) {
  std::string equal;
  count_equal_leaves(run_config_to_json(RunConfig{}), run_config_to_json(unusual()), "", equal);
  EXPECT_EQ(equal, "");
}

TEST(RunConfigJson, AbsentOptionalValuesAreNull) {
  const JsonValue json = run_config_to_json(RunConfig{});
  EXPECT_TRUE(json.find("data")->find("max_length")->is_null());
  const RunConfig back = run_config_from_json(json, "config");
  EXPECT_FALSE(back.data.max_length.has_value());
  EXPECT_FALSE(back.checkpoint.save_total_limit.has_value());
}

TEST(RunConfigJson, MissingUnknownAndMistypedMembersAreAllNamed) {
  JsonValue json = run_config_to_json(RunConfig{});
  json.erase("seed");
  json.set("colour", "blue");
  JsonValue batch = *json.find("batch");
  batch.set("micro_batch_size", "eight");
  json.set("batch", batch);
  JsonValue precision = *json.find("precision");
  precision.set("compute", "fp8");
  json.set("precision", precision);
  json.set("zero", 3);
  try {
    run_config_from_json(json, "out/run.json");
    FAIL() << "accepted";
  } catch (const base::UserError& error) {
    EXPECT_EQ(error.problems().size(), 5u);
    for (const char* text : {"seed is missing", "colour is not known", "batch.micro_batch_size cannot be \"eight\"",
                             "precision.compute cannot be \"fp8\"", "zero must be an object", "out/run.json"}) {
      EXPECT_THAT(error.what(), HasSubstr(text));
    }
  }
}

// Names in files stay what they are.
TEST(RunConfigJson, NamesOfEnumerationsAreFrozen) {
  const std::string text = run_config_to_json(unusual()).dump();
  for (const char* name :
       {"\"packing\":\"on\"", "\"sampling\":\"group_by_length\"", "\"kind\":\"lion\"", "\"decay_groups\":\"all\"",
        "\"family\":\"deepspeed\"", "\"compute\":\"fp16\"", "\"rule\":\"static\"", "\"strategy\":\"best\"",
        "\"device\":\"cuda\"", "\"saved_precision\":\"bf16\""}) {
    std::string spaced = name;
    spaced.replace(spaced.find("\":\""), 3, "\": \"");
    EXPECT_TRUE(text.find(name) != std::string::npos || text.find(spaced) != std::string::npos) << name;
  }
}

TEST(RunConfigJson, AResolvedConfigurationSurvives) {
  const Resolution resolution =
      accept_words("--lr_scheduler_type cosine --warmup_steps 0.03 --max_grad_norm 0.3 --bf16");
  const JsonValue json = run_config_to_json(resolution.config);
  EXPECT_EQ(run_config_to_json(run_config_from_json(json, "config")).dump(), json.dump());
}

}  // namespace
}  // namespace athanor::config
