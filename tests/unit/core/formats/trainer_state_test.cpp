#include "core/formats/trainer_state.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace athanor::formats {
namespace {

TrainerState sample() {
  TrainerState state;
  state.epoch = 0.1 + 0.2;
  state.global_step = 12;
  state.max_steps = 40;
  state.num_train_epochs = 3;
  state.logging_steps = 1;
  state.eval_steps = 0.5;
  state.train_batch_size = 4;
  state.best_metric = 1.0 / 3.0;
  state.best_model_checkpoint = "out/checkpoint-10";
  base::JsonValue row = base::JsonValue::object();
  row.set("loss", 6.453298091888428);
  row.set("step", 1);
  state.log_history.push_back(row);
  return state;
}

TEST(TrainerState, KeepsEveryDigit) {
  const std::string text = trainer_state_to_text(sample());
  EXPECT_NE(text.find("\"epoch\": 0.30000000000000004"), std::string::npos) << text;
  EXPECT_NE(text.find("\"eval_steps\": 0.5"), std::string::npos) << text;
  EXPECT_NE(text.find("\"logging_steps\": 1,"), std::string::npos) << text;
  const TrainerState read = parse_trainer_state(base::parse_json(text, "trainer_state.json"), "trainer_state.json");
  EXPECT_EQ(read.epoch, sample().epoch);
  EXPECT_EQ(read.best_metric, sample().best_metric);
  EXPECT_EQ(read.best_model_checkpoint, sample().best_model_checkpoint);
  EXPECT_FALSE(read.best_global_step.has_value());
  EXPECT_EQ(read.log_history.at(0).find("loss")->as_double(), 6.453298091888428);
  EXPECT_EQ(trainer_state_to_text(read), text);
}

TEST(TrainerState, HasTheKeysThatTransformersReads) {
  const base::JsonValue json = base::parse_json(trainer_state_to_text(TrainerState{}), "x");
  for (const char* key : {"best_global_step",
                          "best_metric",
                          "best_model_checkpoint",
                          "epoch",
                          "eval_steps",
                          "global_step",
                          "is_hyper_param_search",
                          "is_local_process_zero",
                          "is_world_process_zero",
                          "log_history",
                          "logging_steps",
                          "max_steps",
                          "num_input_tokens_seen",
                          "num_train_epochs",
                          "save_steps",
                          "stateful_callbacks",
                          "total_flos",
                          "train_batch_size",
                          "trial_name",
                          "trial_params"}) {
    EXPECT_NE(json.find(key), nullptr) << key;
  }
  EXPECT_EQ(json.members().size(), 20u);
}

TEST(TrainerState, DamagedFilesAreNamed) {
  const auto parse = [](const char* text) { return parse_trainer_state(base::parse_json(text, "s.json"), "s.json"); };
  EXPECT_THROW(parse("[]"), base::UserError);
  try {
    parse(R"({"epoch": "x", "global_step": 1.5, "max_steps": 3})");
    FAIL() << "no error";
  } catch (const base::UserError& error) {
    EXPECT_EQ(error.problems().size(), 3u) << error.what();
    EXPECT_NE(std::string(error.what()).find("s.json:1:"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace athanor::formats
