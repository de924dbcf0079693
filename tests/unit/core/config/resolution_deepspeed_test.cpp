// The DeepSpeed JSON beside the arguments: batch relation, precision, clipping, optimizer, schedule, ZeRO, and how it is given.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/single_process.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/core/config/resolve_words.h"

namespace athanor::config {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class WithDeepSpeed : public ::testing::Test {
 protected:
  Resolution resolve_json(const std::string& json, const std::string& flags = "", std::int64_t world_size = 1) {
    return resolve_words(flags + " --deepspeed " + folder_.write("ds.json", json), {.world_size = world_size});
  }
  Resolution accept_json(const std::string& json, const std::string& flags = "", std::int64_t world_size = 1) {
    Resolution resolution = resolve_json(json, flags, world_size);
    EXPECT_TRUE(resolution.problems.empty()) << json << flags << "\n" << all_text(resolution);
    return resolution;
  }
  std::string place(const std::string& position) const { return folder_.file("ds.json") + ":" + position; }

  testing::TemporaryFolder folder_;
};

TEST_F(WithDeepSpeed, TheTotalBatchDecidesWhatNobodyWrote) {
  const Resolution resolution = accept_json(R"({"train_batch_size": 64})", "--per_device_train_batch_size 2", 4);
  EXPECT_EQ(resolution.config.batch.accumulation_steps, 8);
  EXPECT_EQ(value_of(resolution, "gradient_accumulation_steps").origin,
            "auto: train_batch_size (" + place("1:22") + ")");
  EXPECT_EQ(value_of(resolution, "train_batch_size").origin, place("1:22"));
  // "auto" that no flag backs is decided too; transformers would put its default there and stop.
  const RunConfig config = accept_json(R"({"train_batch_size": 64, "train_micro_batch_size_per_gpu": "auto",
                      "gradient_accumulation_steps": "auto"})",
                                       "--gradient_accumulation_steps 4", 4)
                               .config;
  EXPECT_EQ(config.batch.micro_batch_size, 4);
  EXPECT_EQ(accept_json(R"({"train_batch_size": 64})", "", 4).config.batch.micro_batch_size, 16);
}

TEST_F(WithDeepSpeed, TheMicroBatchOfTheFileIsUsedAndSaid) {
  const Resolution resolution = accept_json(R"({"train_micro_batch_size_per_gpu": 2})");
  EXPECT_EQ(resolution.config.batch.micro_batch_size, 2);
  EXPECT_EQ(value_of(resolution, "per_device_train_batch_size").origin, place("1:36"));
  EXPECT_THAT(all_notes(resolution), HasSubstr("per_device_train_batch_size 2 (" + place("1:36") + ")"));
}

TEST_F(WithDeepSpeed, TextWhereDeepSpeedWantsANumberIsNamedAsThat) {
  const Resolution resolution =
      resolve_json(R"({"gradient_accumulation_steps": "8"})", "--gradient_accumulation_steps 8");
  ASSERT_THAT(resolution.problems, SizeIs(1));
  EXPECT_THAT(resolution.problems[0].what, HasSubstr("must be a whole number, and this is \"8\""));
}

struct BadTriple {
  std::int64_t train, micro, accumulation, world_size;  // 0: absent
  std::vector<std::string> texts;
};

TEST_F(WithDeepSpeed, ImpossibleBatchSizesNameWhatWouldFit) {
  const std::vector<BadTriple> cases = {
      {256, 2, 18, 7, {"256 is not", "2 x gradient_accumulation_steps 18 x 7 ranks = 252", "252", "266"}},
      {256, 2, 0, 7, {"256 does not divide by micro-batch 2 x 7 ranks = 14", "252", "266"}},
      {256, 0, 0, 7, {"256 does not divide by 7 ranks", "252", "259"}},
      {256, 0, 3, 7, {"gradient_accumulation_steps 3 x 7 ranks = 21", "252", "273"}},
      {8, 16, 0, 1, {"8 does not divide by micro-batch 16", "16 or more"}},
      {7, 2, 2, 1, {"7 is not", "= 4"}},
      {4, 2, 4, 1, {"4 is not", "= 8", "gradient_accumulation_steps to 2"}},
      {10, 4, 0, 1, {"10 does not divide by micro-batch 4", "8", "12"}},
      {1, 1, 1, 2, {"1 is not", "= 2", "on 1 rank"}},
      {64, 8, 0, 3, {"64 does not divide by micro-batch 8 x 3 ranks = 24", "48", "72"}},
      {100, 0, 8, 3, {"= 24", "96", "120"}},
      {512, 16, 4, 4, {"512 is not", "= 256"}},
      {3, 2, 0, 1, {"3 does not divide by micro-batch 2", "2", "4"}},
      {5, 0, 2, 2, {"= 4", "4", "8"}},
      {30, 4, 4, 2, {"30 is not", "= 32"}},
      {1024, 3, 0, 8, {"= 24", "1008", "1032"}},
      {6, 4, 1, 2, {"6 is not", "= 8"}},
      {2, 0, 0, 3, {"2 does not divide by 3 ranks", "3 or more"}},
      {96, 5, 5, 4, {"96 is not", "= 100"}},
      {17, 1, 2, 8, {"17 is not", "= 16"}},
      {12, 0, 5, 2, {"= 10", "10", "20"}},
  };
  ASSERT_GE(cases.size(), 20u);
  for (const BadTriple& triple : cases) {
    std::string json = fmt::format("{{\"train_batch_size\": {}", triple.train);
    if (triple.micro > 0) json += fmt::format(",\n\"train_micro_batch_size_per_gpu\": {}", triple.micro);
    if (triple.accumulation > 0) json += fmt::format(",\n\"gradient_accumulation_steps\": {}", triple.accumulation);
    const Resolution resolution = resolve_json(json + "}", "", triple.world_size);
    ASSERT_THAT(resolution.problems, SizeIs(1)) << json;
    const std::string text = all_text(resolution);
    for (const std::string& part : triple.texts) EXPECT_THAT(text, HasSubstr(part)) << json;
    EXPECT_THAT(resolution.problems[0].where, HasSubstr("ds.json:1:"));
    EXPECT_FALSE(resolution.problems[0].remedy.empty());
  }
}

TEST_F(WithDeepSpeed, TheBatchRelationNamesFlagsAndKeysThatTakePart) {
  const Resolution resolution =
      resolve_json(R"({"train_batch_size": 10})", "--per_device_train_batch_size 4 --gradient_accumulation_steps 2");
  ASSERT_THAT(resolution.problems, SizeIs(1));
  EXPECT_EQ(resolution.problems[0].where,
            place("1:22") + ", flag --per_device_train_batch_size, flag --gradient_accumulation_steps");
}

TEST_F(WithDeepSpeed, PrecisionOfTheFileAndOfTheArguments) {
  struct Case {
    const char* json;
    const char* flags;
    Precision compute;
    ScalerRule rule;
  };
  for (const Case& one : {
           Case{R"({"bf16": {"enabled": true}})", "", Precision::kBfloat16, ScalerRule::kDeepSpeed},
           Case{R"({"bf16": {"enabled": true}})", "--mixed_precision bf16", Precision::kBfloat16,
                ScalerRule::kDeepSpeed},
           Case{R"({"zero_optimization": {"stage": 2}})", "--bf16", Precision::kBfloat16, ScalerRule::kDeepSpeed},
           Case{R"({"fp16": {"enabled": "auto"}})", "--fp16", Precision::kFloat16, ScalerRule::kDeepSpeed},
           Case{R"({"fp16": {"enabled": true, "loss_scale": 128}})", "", Precision::kFloat16, ScalerRule::kStatic},
           Case{R"({"fp16": {"enabled": "auto"}, "bf16": {"enabled": "auto"}})", "", Precision::kFloat32,
                ScalerRule::kDeepSpeed},
           Case{R"({"bf16": {"enabled": "auto"}, "fp16": {"enabled": false}})", "--bf16 true", Precision::kBfloat16,
                ScalerRule::kDeepSpeed},
           Case{R"({"torch_autocast": {"enabled": true, "dtype": "bfloat16"}})", "", Precision::kBfloat16,
                ScalerRule::kDeepSpeed},
       }) {
    const PrecisionConfig precision = accept_json(one.json, one.flags).config.precision;
    EXPECT_EQ(precision.compute, one.compute) << one.json << one.flags;
    EXPECT_EQ(precision.scaler.rule, one.rule) << one.json;
  }
  EXPECT_TRUE(accept_json(R"({"bf16": {"enabled": "auto"}, "fp16": {"enabled": "auto"}})", "--mixed_precision auto")
                  .config.precision.automatic);
  for (const auto& [json, flags] : {
           std::pair{R"({"bf16": {"enabled": true}})", "--fp16"},
           {R"({"bf16": {"enabled": true}})", "--mixed_precision no"},
           {R"({"bf16": {"enabled": true}})", "--mixed_precision auto"},
           {R"({"fp16": {"enabled": true}})", "--mixed_precision bf16"},
           {R"({"fp16": {"enabled": true}, "bf16": {"enabled": "auto"}})", "--bf16"},
       }) {
    EXPECT_THAT(resolve_json(json, flags).problems, ::testing::Not(IsEmpty())) << json << flags;
  }
  EXPECT_THAT(all_text(resolve_json(R"({"bf16": {"enabled": true}})", "--mixed_precision no")),
              HasSubstr("bf16.enabled is true in the DeepSpeed file and mixed_precision is no"));
}

TEST_F(WithDeepSpeed, WithoutDeepSpeedFp16HasTorchsScaler) {
  EXPECT_EQ(accept_words("--fp16").config.precision.scaler.rule, ScalerRule::kTorch);
  EXPECT_FALSE(accept_words("--bf16").config.precision.skip_non_finite_steps);
  EXPECT_TRUE(accept_json("{}", "--bf16").config.precision.skip_non_finite_steps);
}

TEST_F(WithDeepSpeed, ClippingThatTheFileLeavesOutFollowsTheArgument) {
  EXPECT_THAT(accept_json("{}").notes, IsEmpty());
  const Resolution resolution = accept_json("{}", "--max_grad_norm 0.3");
  EXPECT_EQ(resolution.config.clipping.max_norm, 0.3);
  EXPECT_THAT(all_notes(resolution), HasSubstr("DeepSpeed would clip at 1"));
  EXPECT_EQ(accept_json(R"({"gradient_clipping": 0})").config.clipping.max_norm, 0.0);
}

TEST_F(WithDeepSpeed, AnOptimizerSectionDecaysEverythingAndHasDeepSpeedsDefaults) {
  const Resolution resolution = accept_json(R"({"optimizer": {"type": "AdamW", "params": {"weight_decay": 0.1}}})");
  EXPECT_EQ(resolution.config.optimizer.decay_groups, DecayGroups::kAll);
  EXPECT_EQ(resolution.config.optimizer.weight_decay, 0.1);
  EXPECT_EQ(resolution.config.optimizer.learning_rate, 1e-3);
  EXPECT_EQ(value_of(resolution, "learning_rate").origin, "DeepSpeed's default for optimizer.params.lr");
  EXPECT_THAT(all_notes(resolution), HasSubstr("decays every parameter"));
  EXPECT_EQ(accept_json("{}").config.optimizer.decay_groups, DecayGroups::kHuggingFace);
}

TEST_F(WithDeepSpeed, AnArgumentThatTheOptimizerSectionLeavesOutIsNotPassedOver) {
  const Resolution resolution =
      resolve_json(R"({"optimizer": {"type": "AdamW", "params": {}}})", "--learning_rate 1e-5");
  ASSERT_THAT(resolution.problems, SizeIs(1));
  EXPECT_EQ(resolution.problems[0].what,
            "learning_rate is 1e-05, and the DeepSpeed file's optimizer leaves lr out, which means 0.001");
  EXPECT_THAT(resolution.problems[0].remedy, HasSubstr("\"lr\": \"auto\""));
}

TEST_F(WithDeepSpeed, AdamIsAdamWUnlessToldOtherwise) {
  EXPECT_EQ(accept_json(R"({"optimizer": {"type": "Adam", "params": {}}})").config.optimizer.kind,
            OptimizerKind::kAdamW);
  EXPECT_EQ(accept_json(R"({"optimizer": {"type": "Adam", "params": {"adam_w_mode": false}}})").config.optimizer.kind,
            OptimizerKind::kAdam);
  EXPECT_THAT(
      all_text(resolve_json(R"({"optimizer": {"type": "SGD", "params": {"lr": 1e-3}}})", "--optim adamw_torch")),
      HasSubstr("the DeepSpeed file's optimizer is SGD and optim asks for another"));
  accept_json(R"({"optimizer": {"type": "SGD", "params": {"lr": "auto", "momentum": 0.9}}})", "--adam_beta1 0.8");
}

TEST_F(WithDeepSpeed, ASchedulerSectionReplacesTheArgumentsSchedule) {
  const char* json = R"({"scheduler": {"type": "WarmupDecayLR", "params": {"total_num_steps": "auto",
      "warmup_min_lr": "auto", "warmup_max_lr": "auto", "warmup_num_steps": "auto"}}})";
  const Resolution resolution = accept_json(json, "--lr_scheduler_type cosine --learning_rate 2e-5 --warmup_steps 10");
  EXPECT_EQ(resolution.config.schedule.family, ScheduleFamily::kDeepSpeed);
  EXPECT_EQ(resolution.config.schedule.type, "WarmupDecayLR");
  const base::JsonValue& parameters = resolution.config.schedule.parameters;
  EXPECT_EQ(parameters.find("warmup_max_lr")->as_double(), 2e-5);
  EXPECT_EQ(parameters.find("warmup_num_steps")->as_integer(), 10);
  // The length is not known before the data is: the plan fills it.
  EXPECT_EQ(parameters.find("total_num_steps")->as_string(), "auto");
  EXPECT_EQ(value_of(resolution, "scheduler.params.total_num_steps").value, "from the step plan at start");
  EXPECT_THAT(all_notes(resolution), HasSubstr("lr_scheduler_type cosine (flag --lr_scheduler_type) is not"));
  const Resolution share = accept_json(json, "--warmup_steps 0.1 --max_steps 95");
  EXPECT_EQ(share.config.schedule.parameters.find("warmup_num_steps")->as_integer(), 10);
  EXPECT_EQ(share.config.schedule.parameters.find("total_num_steps")->as_integer(), 95);
  EXPECT_EQ(accept_json(json, "--warmup_ratio 0.03").config.schedule.parameters.find("warmup_num_steps")->as_string(),
            "auto");
}

TEST_F(WithDeepSpeed, OneProcessHasNothingToShard) {
  const Resolution resolution =
      accept_json(R"({"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}}})");
  EXPECT_EQ(resolution.config.zero.stage, 3);
  EXPECT_TRUE(resolution.config.zero.offload_optimizer);
  EXPECT_THAT(resolution.notes, SizeIs(1));
  EXPECT_THAT(resolution.notes[0], HasSubstr("ZeRO stage 3 with offload: with one process there is nothing to shard"));
  EXPECT_THAT(accept_json(R"({"zero_optimization": {"stage": 3}})", "", 8).notes, IsEmpty());
}

TEST_F(WithDeepSpeed, TensorBoardOfTheFileIsTensorBoard) {
  const Resolution resolution =
      accept_json(R"({"tensorboard": {"enabled": true, "output_path": "tb/", "job_name": "j"}})");
  EXPECT_EQ(resolution.config.logging.report_to, std::vector<std::string>{"tensorboard"});
  EXPECT_EQ(resolution.config.logging.directory, "tb/j");
  EXPECT_THAT(all_text(resolve_json(R"({"tensorboard": {"enabled": true}})", "--logging_dir elsewhere")),
              HasSubstr("logging_dir is elsewhere"));
}

TEST_F(WithDeepSpeed, AnObjectInTheRunFileKeepsItsPlaces) {
  const std::string file = folder_.write("run.yaml",
                                         "max_grad_norm: 0.5\n"
                                         "deepspeed:\n"
                                         "  gradient_clipping: 0.1\n"
                                         "  zero_optimization:\n"
                                         "    stage: 2\n"
                                         "    stag: 1\n"
                                         "    stage: 3\n");
  const Resolution resolution = resolve(read_arguments(with_necessities({file})));
  EXPECT_THAT(all_text(resolution), HasSubstr(file + ":6:"));
  EXPECT_THAT(all_text(resolution), HasSubstr(file + ":7:"));
  const std::string good = folder_.write("good.yaml", "deepspeed: {gradient_clipping: 0.1}\nmax_grad_norm: 0.5\n");
  const Resolution mismatch = resolve(read_arguments(with_necessities({good})));
  ASSERT_THAT(mismatch.problems, SizeIs(1)) << all_text(mismatch);
  EXPECT_EQ(mismatch.problems[0].where, good + ":1:32 and " + good + ":2:1");
}

TEST_F(WithDeepSpeed, JsonOnTheCommandLineIsRead) {
  const Resolution resolution =
      resolve(read_arguments(with_necessities({"--deepspeed", "{\"gradient_clipping\": 0.25}"})));
  EXPECT_EQ(resolution.config.clipping.max_norm, 0.25);
  EXPECT_EQ(value_of(resolution, "gradient_clipping").origin, "--deepspeed:1:23");
}

TEST_F(WithDeepSpeed, ProblemsOfTheFileComeWithThoseOfTheArguments) {
  const Resolution resolution =
      resolve_json(R"({"gradient_cliping": 1, "zero_optimization": {"stage": 7}})", "--seed x");
  EXPECT_THAT(resolution.problems, SizeIs(3)) << all_text(resolution);
  EXPECT_THAT(accept_json(R"({"gradient_cliping": 1})", "--allow_unknown_keys").notes, SizeIs(1));
}

TEST(SingleProcess, CopiesThatALauncherStartedAreCounted) {
  const auto problems_with = [](const std::vector<std::pair<std::string, std::string>>& variables) {
    return problems_of_launch([&](const char* name) -> const char* {
      for (const auto& [known, value] : variables) {
        if (known == name) return value.c_str();
      }
      return nullptr;
    });
  };
  EXPECT_THAT(problems_with({}), IsEmpty());
  EXPECT_THAT(problems_with({{"WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_SIZE", "1"}}), IsEmpty());
  EXPECT_THAT(problems_with({{"SLURM_NTASKS", "16"}}), IsEmpty());
  EXPECT_THAT(problems_with({{"WORLD_SIZE", "many"}}), IsEmpty());
  for (const auto& variables : std::vector<std::vector<std::pair<std::string, std::string>>>{
           {{"WORLD_SIZE", "16"}},
           {{"OMPI_COMM_WORLD_SIZE", "16"}},
           {{"PMI_SIZE", "16"}},
           {{"SLURM_NTASKS", "16"}, {"SLURM_STEP_ID", "0"}}}) {
    const std::vector<base::Problem> problems = problems_with(variables);
    ASSERT_THAT(problems, SizeIs(1)) << variables[0].first;
    EXPECT_THAT(problems[0].what, HasSubstr("16 copies were started"));
    EXPECT_THAT(problems[0].where, HasSubstr(variables[0].first + "=16"));
  }
  EXPECT_THAT(problems_of_world_size(accept_words("")), IsEmpty());
  EXPECT_EQ(problems_of_world_size(accept_words("--nproc_per_node 8")).at(0).where, "flag --nproc_per_node");
}

}  // namespace
}  // namespace athanor::config
