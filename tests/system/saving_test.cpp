// What is kept on disk, what happens when the disk is full, evaluation and the best model, files that other programs read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include "core/formats/safetensors.h"
#include "core/formats/tensorboard_events.h"
#include "tests/system/tiny_run.h"

namespace athanor {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ProgramOutcome;
using testing::TinyRun;

base::JsonValue state_of(const TinyRun& run, const std::string& output) {
  return base::parse_json_file(run.path(output) + "/trainer_state.json");
}

TEST(SaveTotalLimit, KeepsTheNewestAndTheBest) {
  const TinyRun run;
  const ProgramOutcome outcome =
      run.train("out", {"--save_strategy", "steps", "--save_steps", "2", "--save_total_limit", "2"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(run.checkpoints("out"), ElementsAre("checkpoint-10", "checkpoint-8"));
  EXPECT_THAT(outcome.out, HasSubstr("removed checkpoint-2 (save_total_limit)"));
  // The rate rises until the loss gets worse, so the best checkpoint is an early one.
  const std::vector<std::string> worsening = {"--validation_file",
                                              run.path("validation.jsonl"),
                                              "--eval_strategy",
                                              "steps",
                                              "--eval_steps",
                                              "2",
                                              "--save_strategy",
                                              "steps",
                                              "--save_steps",
                                              "2",
                                              "--save_total_limit",
                                              "1",
                                              "--load_best_model_at_end",
                                              "true",
                                              "--learning_rate",
                                              "2",
                                              "--warmup_steps",
                                              "10"};
  ASSERT_EQ(run.train("best", worsening).exit_code, 0);
  const base::JsonValue state = state_of(run, "best");
  const std::int64_t best = state.find("best_global_step")->as_integer();
  ASSERT_LT(best, 10);
  const std::string folder = "checkpoint-" + std::to_string(best);
  EXPECT_THAT(run.checkpoints("best"), ::testing::UnorderedElementsAre("checkpoint-10", folder));
  EXPECT_EQ(state.find("best_model_checkpoint")->as_string(), run.path("best/" + folder));
  EXPECT_TRUE(run.weights("best") == run.weights("best/" + folder)) << "the final model is the best one";
  EXPECT_FALSE(run.weights("best") == run.weights("best/checkpoint-10"));
}

TEST(SavedModel, OfATiedModelHasOneTensorAndARecord) {
  const TinyRun run;
  base::JsonValue config = base::parse_json_file(run.path("config.json"));
  config.set("tie_word_embeddings", true);
  base::write_scratch(run.path("tied.json"), config.dump());
  const ProgramOutcome outcome = run.train("out", {"--config_name", run.path("tied.json"), "--warmup_steps", "0"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const formats::SafetensorsFile file(run.path("out/model.safetensors"));
  EXPECT_NE(file.find("model.embed_tokens.weight"), nullptr);
  EXPECT_EQ(file.find("lm_head.weight"), nullptr);
  EXPECT_TRUE(base::parse_json_file(run.path("out/config.json")).find("tie_word_embeddings")->as_bool());
  const ProgramOutcome again =
      run.train("again", {"--config_name", "", "--model_name_or_path", run.path("out"), "--max_steps", "3"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
}

TEST(Evaluation, IsTheTokenMeanWhateverTheBatchSize) {
  const TinyRun run;
  std::vector<double> losses;
  for (const char* batch : {"1", "2", "5"}) {
    const std::string output = std::string("eval") + batch;
    ASSERT_EQ(run.train(output, {"--validation_file", run.path("validation.jsonl"), "--eval_strategy", "epoch",
                                 "--per_device_eval_batch_size", batch})
                  .exit_code,
              0);
    const base::JsonValue state = state_of(run, output);
    for (const base::JsonValue& entry : state.find("log_history")->items()) {
      if (const base::JsonValue* loss = entry.find("eval_loss")) losses.push_back(loss->as_double());
    }
  }
  ASSERT_EQ(losses.size(), 6u);  // at the ends of both epochs
  EXPECT_NEAR(losses[0], losses[2], 1e-5);
  EXPECT_NEAR(losses[1], losses[5], 1e-5);
}

TEST(FullDisk, AtASaveDoesNotEndTheRunAndTheOldCheckpointStays) {
  const TinyRun run;
  const std::vector<std::string> saving = {"--save_strategy", "steps", "--save_steps", "4"};
  // Two tensor files a save: the third pass is in the second save.
  const ProgramOutcome outcome = run.train("out", saving, "checkpoint_mid_write:3=enospc");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("checkpoint-8 could not be written"));
  EXPECT_THAT(run.checkpoints("out"), ElementsAre("checkpoint-10", "checkpoint-4"));
}

TEST(FullDisk, AtTheFinalModelIsAFailureOfTheRun) {
  const TinyRun run;
  const ProgramOutcome outcome = run.train("out", {}, "checkpoint_mid_write:1=enospc");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("disk is full"));
}

TEST(FullDisk, IsSeenBeforeTheFirstStep) {
  const TinyRun run;
  std::filesystem::create_directories(run.path("small"));
  if (::mount("tmpfs", run.path("small").c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "needs root to mount a tmpfs";
  const ProgramOutcome outcome = run.train("small/out", {"--save_strategy", "steps", "--save_steps", "5"});
  ::umount(run.path("small").c_str());
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("are needed for one checkpoint and the model"));
  EXPECT_EQ(outcome.out.find("step 1/"), std::string::npos);
}

TEST(SaveOnlyModel, WritesFoldersThatCannotBeResumedFrom) {
  const TinyRun run;
  ASSERT_EQ(run.train("out", {"--save_strategy", "steps", "--save_steps", "5", "--save_only_model", "true"}).exit_code,
            0);
  EXPECT_FALSE(std::filesystem::exists(run.path("out/checkpoint-5/optimizer.safetensors")));
  EXPECT_TRUE(run.weights("out") == run.weights("out/checkpoint-10"));
  const ProgramOutcome resumed = run.train("out", {"--resume_from_checkpoint", "true"});
  EXPECT_EQ(resumed.exit_code, 2);
  EXPECT_THAT(resumed.err, HasSubstr("checkpoint-10 holds the model only"));
}

TEST(Checkpoint, IsAFolderThatTransformersLoads) {
  const TinyRun run;
  ASSERT_EQ(run.train("out", {"--save_strategy", "steps", "--save_steps", "5", "--bf16", "true"}).exit_code, 0);
  for (const char* folder : {"out", "out/checkpoint-5"}) {
    for (const char* file : {"config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json",
                             "model.safetensors", "trainer_state.json"}) {
      EXPECT_TRUE(std::filesystem::exists(run.path(std::string(folder) + "/" + file))) << folder << "/" << file;
    }
    const formats::SafetensorsFile weights(run.path(std::string(folder) + "/model.safetensors"));
    EXPECT_EQ(weights.metadata().at("format"), "pt");
    EXPECT_NE(weights.find("model.layers.1.self_attn.q_proj.weight"), nullptr);
  }
}

TEST(TensorBoard, FilesHoldTheLogUnderHuggingFaceTags) {
  const TinyRun run;
  ASSERT_EQ(run.train("out", {"--report_to", "tensorboard", "--run_name", "tiny", "--save_strategy", "steps",
                              "--save_steps", "5"})
                .exit_code,
            0);
  ASSERT_EQ(run.train("out", {"--report_to", "tensorboard", "--run_name", "tiny", "--resume_from_checkpoint",
                              run.path("out/checkpoint-5")})
                .exit_code,
            0);
  const std::vector<std::string> files = base::expand_glob(run.path("out/runs/tiny/events.out.tfevents.*"));
  ASSERT_EQ(files.size(), 2u);
  const formats::EventFileContent first = formats::read_event_file(base::read_file(files[0]));
  std::vector<std::int64_t> steps;
  for (const formats::ScalarPoint& point : first.scalars) {
    if (point.tag == "train/loss") steps.push_back(point.step);
  }
  EXPECT_THAT(steps, ElementsAre(2, 4, 6, 8, 10));
}

}  // namespace
}  // namespace athanor
