// Arguments alone: defaults, types, ranges, precedence, precision, and what is shown of each value.
#include "core/config/resolution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/config/argument_fields.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/core/config/resolve_words.h"

namespace athanor::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Resolution, WithoutArgumentsItIsTransformers5) {
  const RunConfig config = accept_words("").config;
  EXPECT_EQ(config.optimizer.kind, OptimizerKind::kAdamW);
  EXPECT_EQ(config.optimizer.learning_rate, 5e-5);
  EXPECT_EQ(config.optimizer.epsilon, 1e-8);
  EXPECT_EQ(config.optimizer.weight_decay, 0.0);
  EXPECT_EQ(config.optimizer.decay_groups, DecayGroups::kHuggingFace);
  EXPECT_EQ(config.batch.micro_batch_size, 8);
  EXPECT_EQ(config.batch.global_batch_size(), 8);
  EXPECT_EQ(config.length.num_train_epochs, 3.0);
  EXPECT_EQ(config.length.max_steps, -1);
  EXPECT_EQ(config.schedule.type, "linear");
  EXPECT_EQ(config.clipping.max_norm, 1.0);
  EXPECT_EQ(config.precision.compute, Precision::kFloat32);
  EXPECT_EQ(config.precision.scaler.rule, ScalerRule::kTorch);
  EXPECT_EQ(config.logging.steps, 500);
  EXPECT_EQ(config.checkpoint.save_steps, 500);
  EXPECT_EQ(config.evaluation.strategy, Interval::kNo);
  EXPECT_EQ(config.seed, 42);
  EXPECT_EQ(config.data.data_seed, 42);
  EXPECT_EQ(config.data.sampling, SamplingStrategy::kRandom);
  EXPECT_THAT(config.logging.report_to, IsEmpty());
}

TEST(Resolution, EveryValueHasAnOriginAndIsThereOnce) {
  const Resolution resolution = accept_words("--seed 7");
  std::vector<std::string> names;
  for (const ResolvedValue& value : resolution.values) {
    EXPECT_FALSE(value.origin.empty()) << value.name;
    names.push_back(value.name);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  for (const Field& field : training_fields()) {
    if (field.support != Support::kHonoured) continue;
    EXPECT_TRUE(std::binary_search(names.begin(), names.end(), field.name)) << field.name;
  }
  EXPECT_EQ(value_of(resolution, "seed").origin, "flag --seed");
  EXPECT_EQ(value_of(resolution, "data_seed").value, "7");
  EXPECT_EQ(value_of(resolution, "data_seed").origin, "auto: seed");
  EXPECT_EQ(value_of(resolution, "learning_rate").origin, "default");
  EXPECT_EQ(value_of(resolution, "total_steps").value, "from the step plan at start");
}

TEST(Resolution, NumbersAreTakenAsPythonWritesThem) {
  const RunConfig config =
      accept_words(
          "--learning_rate 1E-5 --max_steps 1_000 --save_steps +5 --model_max_length 2e3 --weight_decay .1 "
          "--per_device_train_batch_size 4.0")
          .config;
  EXPECT_EQ(config.optimizer.learning_rate, 1e-5);
  EXPECT_EQ(config.length.max_steps, 1000);
  EXPECT_EQ(config.checkpoint.save_steps, 5);
  EXPECT_EQ(config.data.max_length, 2000);
  EXPECT_EQ(config.optimizer.weight_decay, 0.1);
  EXPECT_EQ(config.batch.micro_batch_size, 4);
}

struct Wrong {
  const char* line;
  std::vector<std::string> texts;
};

TEST(Resolution, WrongValuesAreNamedWithWhatIsWanted) {
  const std::vector<Wrong> cases = {
      {"--learning_rate fast",
       {"learning_rate must be a number, not fast", "flag --learning_rate", "default is 5e-05"}},
      {"--learning_rate -1", {"learning_rate is -1 and must be >= 0"}},
      {"--learning_rate nan", {"learning_rate must be a number, not nan"}},
      {"--learning_rate inf", {"learning_rate must be a number, not inf"}},
      {"--learning_rate 1e999", {"learning_rate must be a number"}},
      {"--seed 1.5", {"seed must be a whole number, not 1.5"}},
      {"--seed 99999999999999999999", {"seed must be a whole number"}},
      {"--per_device_train_batch_size 0", {"per_device_train_batch_size is 0 and must be >= 1"}},
      {"--gradient_accumulation_steps 9999999999", {"must be >= 1 and <= 1048576"}},
      {"--bf16 maybe", {"bf16 must be true or false, not maybe"}},
      {"--adam_beta1 1", {"adam_beta1 is 1 and must be >= 0 and < 1"}},
      {"--warmup_ratio 1.5", {"warmup_ratio is 1.5 and must be >= 0 and <= 1"}},
      {"--max_steps -5", {"max_steps is -5 and must be >= -1"}},
      {"--eval_strategy step", {"eval_strategy does not know step", "did you mean steps?"}},
      {"--save_strategy sometimes", {"save_strategy does not know sometimes", "use one of no, steps, epoch, best"}},
      {"--optim adamw_trch", {"there is no optimizer adamw_trch", "did you mean adamw_torch?"}},
      {"--optim adamw_bnb_8bit", {"adamw_bnb_8bit is known to Hugging Face and not done here"}},
      {"--optim_args momentum=0.9", {"optim_args momentum=0.9 means nothing"}},
      {"--optim sgd --optim_args momentum", {"optim_args must be key=value pairs"}},
      {"--report_to wandb", {"report_to wandb is not done"}},
      {"--lr_scheduler_kwargs 3", {"lr_scheduler_kwargs must be an object, not 3"}},
      {"--lr_scheduler_kwargs {a:", {"lr_scheduler_kwargs is no JSON"}},
      {"--lr_scheduler_kwargs {\"a\":1,\"a\":2}", {"lr_scheduler_kwargs holds a twice"}},
      {"--torch_compile", {"torch_compile true is known and not done here", "flag --torch_compile"}},
      {"--fsdp", {"fsdp true is known and not done here"}},
      {"--fsdp full_shard", {"fsdp full_shard is known and not done here", "zero_optimization.stage 3"}},
      {"--label_smoothing_factor 0.1", {"label_smoothing_factor 0.1"}},
      {"--save_safetensors false", {"save_safetensors false"}},
      {"--use_cpu --device cuda", {"use_cpu and device contradict each other"}},
      {"--group_by_length --train_sampling_strategy sequential", {"group_by_length and train_sampling_strategy"}},
  };
  for (const Wrong& wrong : cases) {
    const Resolution resolution = resolve_words(wrong.line);
    EXPECT_EQ(resolution.problems.size(), 1u) << wrong.line << "\n" << all_text(resolution);
    for (const std::string& text : wrong.texts) EXPECT_THAT(all_text(resolution), HasSubstr(text)) << wrong.line;
    for (const base::Problem& problem : resolution.problems) {
      EXPECT_FALSE(problem.where.empty() || problem.remedy.empty()) << wrong.line;
    }
  }
}

TEST(Resolution, EveryProblemIsFoundAtOnce) {
  const Resolution resolution = resolve_words("--learning_rat 1 --seed x --bf16 --fp16 --torch_compile --max_steps 0");
  EXPECT_EQ(resolution.problems.size(), 5u) << all_text(resolution);
}

TEST(Resolution, KnownNamesThatAskForNothingAreAccepted) {
  const Resolution resolution = accept_words(
      "--torch_compile false --label_smoothing_factor 0.0 --hub_strategy every_save --push_to_hub False "
      "--ddp_timeout 1800.0 --finetuning_type full --do_train --local_rank 0 --debug= --val_size 0 --tp_size 0 "
      "--dataloader_pin_memory True --half_precision_backend auto --fsdp= --remove_unused_columns");
  EXPECT_THAT(resolution.notes, IsEmpty()) << all_notes(resolution);
}

TEST(Resolution, HarmlessNamesAreSaidOnce) {
  const Resolution resolution = accept_words("--no_dataloader_pin_memory --ddp_timeout 60 --hub_token x");
  EXPECT_THAT(resolution.notes,
              ElementsAre(HasSubstr("dataloader_pin_memory"), HasSubstr("ddp_timeout"), HasSubstr("hub_token")));
}

TEST(Resolution, PrecisionNamesAgreeOrAreNamed) {
  struct Case {
    const char* line;
    Precision compute;
    bool automatic;
  };
  for (const Case& one : {Case{"--bf16", Precision::kBfloat16, false},
                          {"--fp16 true", Precision::kFloat16, false},
                          {"--mixed_precision bf16", Precision::kBfloat16, false},
                          {"--mixed_precision fp16 --fp16", Precision::kFloat16, false},
                          {"--mixed_precision no", Precision::kFloat32, false},
                          {"--mixed_precision no --bf16 false", Precision::kFloat32, false},
                          {"--mixed_precision auto", Precision::kFloat32, true}}) {
    const PrecisionConfig precision = accept_words(one.line).config.precision;
    EXPECT_EQ(precision.compute, one.compute) << one.line;
    EXPECT_EQ(precision.automatic, one.automatic) << one.line;
  }
  for (const char* line : {"--bf16 --fp16", "--mixed_precision no --bf16", "--mixed_precision bf16 --fp16",
                           "--mixed_precision auto --bf16", "--mixed_precision bf16 --bf16 false"}) {
    const Resolution resolution = resolve_words(line);
    ASSERT_EQ(resolution.problems.size(), 1u) << line << all_text(resolution);
    EXPECT_THAT(resolution.problems[0].what, HasSubstr("contradict each other")) << line;
    EXPECT_THAT(resolution.problems[0].where, HasSubstr(" and flag --")) << line;
  }
  EXPECT_EQ(value_of(resolve_words("--bf16"), "precision").origin, "auto: bf16");
  EXPECT_EQ(value_of(resolve_words("--mixed_precision auto"), "precision").value, "from the hardware at start");
}

TEST(Resolution, ValuesThatFollowFromOthersSaySo) {
  const Resolution resolution = accept_words(
      "--eval_strategy steps --validation_file v --logging_steps 20 --load_best_model_at_end --save_steps 40");
  EXPECT_EQ(resolution.config.evaluation.steps, 20);
  EXPECT_EQ(value_of(resolution, "eval_steps").origin, "auto: logging_steps");
  EXPECT_EQ(resolution.config.checkpoint.metric_for_best, "loss");
  EXPECT_EQ(resolution.config.checkpoint.greater_is_better, false);
  EXPECT_EQ(value_of(resolution, "train_batch_size").value, "8");
}

TEST(Resolution, HomeIsExpandedInPathsOnly) {
  const ResolveOptions options{.home_folder = "/home/me"};
  const Resolution resolution = resolve(read_arguments({"--output_dir=~/out", "--train_file", "~/a.jsonl", "b~/c",
                                                        "--run_name", "~x", "--cache_dir", "~"}),
                                        options);
  EXPECT_EQ(resolution.config.checkpoint.output_dir, "/home/me/out");
  EXPECT_THAT(resolution.config.data.train_files, ElementsAre("/home/me/a.jsonl", "b~/c"));
  EXPECT_EQ(resolution.config.logging.run_name, "~x");
  EXPECT_EQ(resolution.config.data.cache_dir, "/home/me");
}

TEST(Resolution, ScheduleOptionsTakeNumbersWrittenAsText) {
  const Resolution resolution = resolve(read_arguments(with_necessities(
      {"--lr_scheduler_kwargs",
       "{\"num_cycles\": \"2\", \"min_lr\": \"1e-6\", \"decay_type\": \"linear\", \"x\": \"true\"}"})));
  const base::JsonValue& options = resolution.config.schedule.parameters;
  EXPECT_EQ(options.find("num_cycles")->as_integer(), 2);
  EXPECT_EQ(options.find("min_lr")->as_double(), 1e-6);
  EXPECT_EQ(options.find("decay_type")->as_string(), "linear");
  EXPECT_TRUE(options.find("x")->as_bool());
}

TEST(Resolution, NoneIsAsGoodAsAbsent) {
  const RunConfig config = accept_words(
                               "--resume_from_checkpoint None --data_seed None --tf32 None --run_name null "
                               "--save_total_limit None --lr_scheduler_kwargs None")
                               .config;
  EXPECT_EQ(config.checkpoint.resume_from, "");
  EXPECT_EQ(config.data.data_seed, 42);
  EXPECT_EQ(config.logging.run_name, "");
  EXPECT_FALSE(config.checkpoint.save_total_limit.has_value());
}

TEST(Resolution, ResumeTakesASwitchOrAFolder) {
  EXPECT_EQ(accept_words("--resume_from_checkpoint true").config.checkpoint.resume_from, "true");
  EXPECT_EQ(accept_words("--resume_from_checkpoint False").config.checkpoint.resume_from, "");
  EXPECT_EQ(accept_words("--resume_from_checkpoint out/checkpoint-5").config.checkpoint.resume_from,
            "out/checkpoint-5");
}

TEST(Resolution, WhatIsGivenAndNotUsedIsSaid) {
  EXPECT_THAT(all_notes(accept_words("--logging_dir x")), HasSubstr("logging_dir (flag --logging_dir) has no effect"));
  EXPECT_THAT(all_notes(accept_words("--max_steps 5 --num_train_epochs 2")), HasSubstr("max_steps"));
  EXPECT_THAT(all_notes(accept_words("--warmup_steps 5 --warmup_ratio 0.1")), HasSubstr("warmup_ratio"));
  EXPECT_THAT(accept_words("--logging_dir x --report_to tensorboard").notes, IsEmpty());
}

TEST(Resolution, TheTableAsJsonHasARowForEachValue) {
  testing::TemporaryFolder folder;
  const std::string file = folder.write("run.yaml", "seed: 3\n");
  const Resolution resolution = resolve(read_arguments({file, "--seed", "4"}));
  const base::JsonValue table = resolution_to_json(resolution);
  ASSERT_EQ(table.items().size(), resolution.values.size());
  EXPECT_EQ(table.items()[0].find("name")->as_string(), "seed");
  EXPECT_EQ(table.items()[0].find("value")->as_string(), "4");
  EXPECT_EQ(table.items()[0].find("origin")->as_string(), "flag --seed");
  EXPECT_EQ(table.items()[0].find("beat")->as_string(), file + ":1:1 (3)");
}

}  // namespace
}  // namespace athanor::config
