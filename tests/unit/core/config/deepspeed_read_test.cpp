// Leniencies, older spellings, defaults and notes of the DeepSpeed reader.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/file.h"
#include "core/config/base64.h"
#include "core/config/deepspeed.h"
#include "tests/support/temporary_folder.h"

namespace athanor::config {
namespace {

using ::testing::ElementsAre;

// A reading without problems.
DeepSpeedReading accept(std::string_view text) {
  DeepSpeedReading reading = read_deepspeed_text(text, "ds.json");
  for (const base::Problem& problem : reading.problems) ADD_FAILURE() << base::format_problem(problem);
  return reading;
}

TEST(DeepSpeedRead, NumbersAreTakenAsDeepSpeedTakesThem) {
  const DeepSpeedZero zero = accept(R"({"zero_optimization": {"stage": "2", "reduce_bucket_size": 5e8,
      "stage3_prefetch_bucket_size": "7.0", "stage3_param_persistence_threshold": 3.0,
      "stage3_gather_16bit_weights_on_model_save": "True"}})")
                                 .config.zero_optimization;
  EXPECT_EQ(zero.stage.value, 2);
  EXPECT_EQ(zero.reduce_bucket_size.value, 500000000);
  EXPECT_EQ(zero.stage3_prefetch_bucket_size.value, 7);
  EXPECT_EQ(zero.stage3_param_persistence_threshold.value, 3);
  EXPECT_EQ(zero.stage3_gather_16bit_weights_on_model_save.value, true);
}

TEST(DeepSpeedRead, ValuesKnowTheirPlaceAndAutoIsKept) {
  const DeepSpeedConfig config = accept("{\n  \"train_batch_size\": \"auto\",\n  \"gradient_clipping\": 0.5\n}").config;
  EXPECT_TRUE(config.batch.train_batch_size.is_auto);
  EXPECT_FALSE(config.batch.train_batch_size.value.has_value());
  EXPECT_EQ(config.batch.train_batch_size.where, "ds.json:2:23");
  EXPECT_EQ(config.gradient_clipping.value, 0.5);
  EXPECT_EQ(config.gradient_clipping.where, "ds.json:3:24");
  EXPECT_FALSE(config.fp16.enabled.given());
  EXPECT_TRUE(config.fp16.enabled.where.empty());
}

TEST(DeepSpeedRead, NullIsAbsentInLookupSectionsAndOptionalKeys) {
  const DeepSpeedReading reading = accept(R"({"train_batch_size": null, "fp16": null, "optimizer": null,
      "zero_optimization": {"offload_optimizer": null, "overlap_comm": null}})");
  EXPECT_FALSE(reading.config.batch.train_batch_size.given());
  EXPECT_FALSE(reading.config.optimizer.has_value());
  EXPECT_TRUE(reading.notes.empty());
}

TEST(DeepSpeedRead, OlderSpellingsAreMappedWithAWord) {
  const DeepSpeedReading reading = accept(R"({"bfloat16": {"enabled": true, "check_overflow": false},
      "zero_optimization": {"stage": 3, "cpu_offload": true, "cpu_offload_param": true,
                            "stage3_gather_fp16_weights_on_model_save": true}})");
  EXPECT_EQ(reading.config.bf16.enabled.value, true);
  EXPECT_EQ(reading.config.bf16.check_grad_overflow.value, false);
  EXPECT_EQ(reading.config.zero_optimization.offload_optimizer_device.value, OffloadDevice::kCpu);
  EXPECT_EQ(reading.config.zero_optimization.offload_param_device.value, OffloadDevice::kCpu);
  EXPECT_EQ(reading.config.zero_optimization.stage3_gather_16bit_weights_on_model_save.value, true);
  std::size_t num_deprecated = 0;
  for (const DeepSpeedNote& note : reading.notes)
    num_deprecated += note.kind == NoteKind::kDeprecated ? note.keys.size() : 0;
  EXPECT_EQ(num_deprecated, 5u);
}

TEST(DeepSpeedRead, ZeroOptimizationAsASwitchIsStageOneOrZero) {
  EXPECT_EQ(accept(R"({"zero_optimization": true})").config.zero_optimization.stage.value, 1);
  EXPECT_EQ(accept(R"({"zero_optimization": false})").config.zero_optimization.stage.value, 0);
}

TEST(DeepSpeedRead, HarmlessKeysAreSaidOnceTogetherAndDefaultsNotAtAll) {
  const DeepSpeedReading reading = accept(R"({"steps_per_print": 10, "wall_clock_breakdown": false,
      "zero_optimization": {"overlap_comm": true, "contiguous_gradients": true, "sub_group_size": 1e8,
                            "allgather_bucket_size": 5e8}})");
  ASSERT_EQ(reading.notes.size(), 2u);
  EXPECT_THAT(reading.notes[0].keys, ElementsAre("steps_per_print"));
  EXPECT_THAT(reading.notes[1].keys, ElementsAre("zero_optimization.overlap_comm", "zero_optimization.sub_group_size"));
  EXPECT_EQ(reading.notes[1].kind, NoteKind::kHarmless);
  EXPECT_EQ(format_note(reading.notes[0]),
            "steps_per_print (ds.json:1:21): has no effect here: progress is shown by the live line and every "
            "--logging_steps steps");
}

TEST(DeepSpeedRead, SectionThatIsOffMayHoldAnything) {
  const DeepSpeedReading reading = accept(R"({"fp16": {"enabled": false, "opt_level": "O2", "loss_scale_window": 0},
      "autotuning": {"enabled": false, "mode": "run"}, "wandb": {"enabled": "false", "project": "x"}})");
  ASSERT_EQ(reading.notes.size(), 1u);
  EXPECT_THAT(reading.notes[0].keys, ElementsAre("fp16.opt_level", "autotuning.mode"));
  EXPECT_EQ(reading.notes[0].kind, NoteKind::kIgnored);
}

TEST(DeepSpeedRead, KeysThatLookLikeCommentsAreNotes) {
  const DeepSpeedReading reading =
      accept(R"({"_comment": "x", "//": "y", "comment_2": 1, "fp16": {"_loss_scale": 5}})");
  ASSERT_EQ(reading.notes.size(), 1u);
  EXPECT_THAT(reading.notes[0].keys, ElementsAre("_comment", "//", "comment_2", "fp16._loss_scale"));
}

TEST(DeepSpeedRead, MonitorsThatAreNotWrittenDoNotStopTheRun) {
  const DeepSpeedReading reading = accept(R"({"wandb": {"enabled": true}, "csv_monitor": {"enabled": true},
      "comet": {"enabled": true}, "tensorboard": {"enabled": true, "output_path": "tb", "job_name": "a"}})");
  EXPECT_EQ(reading.config.tensorboard.output_path.value, "tb");
  EXPECT_EQ(reading.config.tensorboard.job_name.value, "a");
  ASSERT_EQ(reading.notes.size(), 1u);
  EXPECT_THAT(reading.notes[0].keys, ElementsAre("wandb.enabled", "csv_monitor.enabled", "comet.enabled"));
  EXPECT_NE(reading.notes[0].what.find("not written"), std::string::npos);
}

TEST(DeepSpeedRead, ScalerHasDeepSpeedsDefaultsAndAStaticScale) {
  const ScalerConfig dynamic = accept(R"({"fp16": {"enabled": true}})").config.fp16.scaler();
  EXPECT_EQ(dynamic.rule, ScalerRule::kDeepSpeed);
  EXPECT_EQ(dynamic.initial_scale, 65536.0);
  EXPECT_EQ(dynamic.growth_interval, 1000);
  EXPECT_EQ(dynamic.hysteresis, 2);
  EXPECT_FALSE(dynamic.consecutive_hysteresis);
  EXPECT_EQ(dynamic.minimum_scale, 1.0);
  const ScalerConfig fixed = accept(R"({"fp16": {"enabled": true, "loss_scale": "128"}})").config.fp16.scaler();
  EXPECT_EQ(fixed.rule, ScalerRule::kStatic);
  EXPECT_EQ(fixed.initial_scale, 128.0);
  const ScalerConfig large = accept(R"({"fp16": {"initial_scale_power": 32, "hysteresis": 1}})").config.fp16.scaler();
  EXPECT_EQ(large.initial_scale, 4294967296.0);
  EXPECT_EQ(large.hysteresis, 1);
}

TEST(DeepSpeedRead, AutocastIsReadAsPrecision) {
  const DeepSpeedReading reading = accept(R"({"torch_autocast": {"enabled": true, "dtype": "torch.bfloat16"}})");
  EXPECT_EQ(reading.config.torch_autocast.dtype.value, Precision::kBfloat16);
  ASSERT_EQ(reading.notes.size(), 1u);
  EXPECT_EQ(reading.notes[0].kind, NoteKind::kMapped);
  EXPECT_EQ(accept(R"({"torch_autocast": {"dtype": "half"}})").config.torch_autocast.dtype.value, Precision::kFloat16);
  EXPECT_EQ(accept(R"({"torch_autocast": {"dtype": "float"}})").config.torch_autocast.dtype.value, Precision::kFloat32);
}

TEST(DeepSpeedRead, Base64StandsInPlaceOfAPath) {
  // {"train_batch_size": 8, "scheduler": null} and a text whose encoding differs between the two alphabets.
  const DeepSpeedReading reading = read_deepspeed("eyJ0cmFpbl9iYXRjaF9zaXplIjogOCwgInNjaGVkdWxlciI6IG51bGx9");
  EXPECT_TRUE(reading.problems.empty());
  EXPECT_EQ(reading.config.batch.train_batch_size.value, 8);
  EXPECT_EQ(reading.config.batch.train_batch_size.where, "--deepspeed (base64):1:22");
  EXPECT_EQ(decode_base64_url("Pz8_fn5-"), "???~~~");
  EXPECT_EQ(decode_base64_url("Pz8/fn5+"), "???~~~");
  EXPECT_EQ(decode_base64_url("eHg="), "xx");
  EXPECT_EQ(decode_base64_url("eHg"), "xx");
  EXPECT_EQ(decode_base64_url("ds.json"), std::nullopt);
  EXPECT_EQ(decode_base64_url("eHgxy"), std::nullopt);
}

TEST(DeepSpeedRead, FileWinsOverBase64AndIsNamedByItsPath) {
  ::athanor::testing::TemporaryFolder folder;
  base::write_whole(folder.file("ds.json"), "{\n \"train_batch_size\": 4}");
  const DeepSpeedReading reading = read_deepspeed(folder.file("ds.json"));
  EXPECT_EQ(reading.config.batch.train_batch_size.where, folder.file("ds.json") + ":2:22");
  EXPECT_EQ(reading.raw.find("train_batch_size")->as_integer(), 4);
}

TEST(DeepSpeedRead, EmptyFileIsAnEmptyConfiguration) {
  const DeepSpeedReading reading = accept("// nothing yet\n");
  EXPECT_FALSE(reading.config.batch.train_batch_size.given());
  EXPECT_TRUE(reading.notes.empty());
}

}  // namespace
}  // namespace athanor::config
