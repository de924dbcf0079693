#include "engine/trainer/run_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/base/file.h"
#include "tests/support/temporary_folder.h"

namespace athanor::trainer {
namespace {

StepRecord step(std::int64_t number, double loss, StepAction action = StepAction::kApply) {
  StepRecord record;
  record.step = number;
  record.epoch = static_cast<double>(number) / 10;
  record.loss = loss;
  record.action = action;
  record.gradient_norm = 0.5;
  record.learning_rate = 1e-3 / static_cast<double>(number);
  record.num_counted_tokens = 100;
  return record;
}

double value(const base::JsonValue& entry, const char* key) { return entry.find(key)->as_double(); }

TEST(RunLog, LogsTheMeanSinceTheLastEntryAndTheLastStepsRates) {
  RunLog log({}, config::Precision::kFloat32, {}, {});
  log.add_step(step(1, 4.0));
  log.add_step(step(2, 2.0));
  log.log_training(1.0, 0, 0.0);
  log.add_step(step(3, 1.0 / 3));
  log.log_training(1.0, 0, 0.0);
  log.log_training(1.0, 0, 0.0);  // nothing new
  const auto& history = log.state().log_history;
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(value(history[0], "loss"), 3.0);
  EXPECT_EQ(value(history[0], "learning_rate"), 5e-4);
  EXPECT_EQ(value(history[0], "grad_norm"), 0.5);
  EXPECT_EQ(value(history[0], "step"), 2);
  EXPECT_EQ(value(history[0], "epoch"), 0.2);
  EXPECT_EQ(value(history[1], "loss"), 1.0 / 3);
  EXPECT_EQ(history[0].find("num_input_tokens_seen"), nullptr);
  EXPECT_EQ(history[0].find("loss_scale"), nullptr);
}

TEST(RunLog, CountsSkippedAndEmptyStepsAndTokens) {
  config::LoggingConfig config;
  config.count_input_tokens = "all";
  RunLog log(config, config::Precision::kFloat16, {}, {});
  log.add_step(step(1, 4.0));
  log.add_step(step(2, 2.0, StepAction::kSkipOverflow));
  log.add_step(step(3, 0.0, StepAction::kSkipNoTargets));
  log.log_training(2.0, 100, 0.0);
  const base::JsonValue& entry = log.state().log_history[0];
  EXPECT_EQ(value(entry, "loss"), 3.0);  // the empty step has no loss to average
  EXPECT_EQ(value(entry, "skipped_steps"), 1);
  EXPECT_EQ(value(entry, "empty_steps"), 1);
  EXPECT_EQ(value(entry, "num_input_tokens_seen"), 300);
  EXPECT_EQ(value(entry, "train_tokens_per_second"), 100.0);
  EXPECT_NE(entry.find("loss_scale"), nullptr);
}

TEST(RunLog, NonFiniteLossesAreShownUnlessFiltered) {
  for (const bool filter : {false, true}) {
    config::LoggingConfig config;
    config.nan_inf_filter = filter;
    RunLog log(config, config::Precision::kFloat32, {}, {});
    log.add_step(step(1, 4.0));
    log.add_step(step(2, std::numeric_limits<double>::quiet_NaN()));
    log.log_training(1.0, 0, 0.0);
    EXPECT_EQ(std::isnan(value(log.state().log_history[0], "loss")), !filter);
  }
}

TEST(RunLog, AResumedLogWritesWhatAnUnbrokenOneDoes) {
  RunLog whole({}, config::Precision::kFloat32, {}, {});
  RunLog first({}, config::Precision::kFloat32, {}, {});
  for (int i = 1; i <= 3; ++i) {
    whole.add_step(step(i, 1.0 / i));
    first.add_step(step(i, 1.0 / i));
  }
  const base::JsonValue saved = base::parse_json(log_sums_to_json(first.sums()).dump(), "saved");
  RunLog second({}, config::Precision::kFloat32, first.state(), log_sums_from_json(saved));
  for (RunLog* log : {&whole, &second}) {
    log->add_step(step(4, 0.1));
    log->log_training(1.0, 0, 0.0);
  }
  EXPECT_EQ(formats::trainer_state_to_text(second.state()), formats::trainer_state_to_text(whole.state()));
}

TEST(RunLog, WritesEventsUnderHuggingFaceTags) {
  const testing::TemporaryFolder folder;
  RunLog log({}, config::Precision::kFloat32, {}, {});
  log.open_events(folder.path(), {.unix_seconds = 1, .host = "h", .process_id = 1, .serial = 0}, std::nullopt);
  log.add_step(step(1, 4.0));
  log.log_training(1.0, 0, 10.0);
  log.log_metrics({{"eval_loss", 3.5}}, 11.0);
  log.close_events();
  const auto files = base::expand_glob(folder.path() + "/events.out.tfevents.*");
  ASSERT_EQ(files.size(), 1u);
  const formats::EventFileContent content = formats::read_event_file(base::read_file(files[0]));
  std::vector<std::string> tags;
  for (const formats::ScalarPoint& point : content.scalars) tags.push_back(point.tag);
  EXPECT_THAT(tags, ::testing::ElementsAre("train/loss", "train/grad_norm", "train/learning_rate", "train/epoch",
                                           "eval/loss", "train/epoch"));
  EXPECT_EQ(content.scalars[4].value, 3.5f);
  EXPECT_EQ(content.scalars[4].step, 1);
}

}  // namespace
}  // namespace athanor::trainer
