#include "core/schedule/metric_schedule.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace athanor::schedule {
namespace {

using base::JsonValue;

config::ScheduleConfig config_of(const JsonValue& row) {
  config::ScheduleConfig config;
  config.type = row.find("type")->as_string();
  config.parameters = *row.find("kwargs");
  return config;
}

JsonValue reference() {
  return base::parse_json_file(ATHANOR_SOURCE_DIR "/tests/parity/schedules/expected_metric.json");
}

TEST(MetricSchedule, EqualsTheReferenceAfterEveryMetric) {
  const JsonValue rows = reference();
  ASSERT_GE(rows.items().size(), 11u);
  for (const JsonValue& row : rows.items()) {
    const MetricSchedule schedule(config_of(row), row.find("base_lr")->as_double());
    MetricScheduleState state = schedule.initial_state();
    const std::vector<JsonValue>& metrics = row.find("metrics")->items();
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      state = schedule.next(state, metrics[i].as_double());
      ASSERT_EQ(state.learning_rate, row.find("lr_after")->items()[i].as_double())
          << row.find("type")->as_string() << row.find("kwargs")->dump() << " after metric " << i;
    }
  }
}

TEST(MetricSchedule, TheStateSurvivesTheCheckpointAtEveryMetric) {
  const JsonValue rows = reference();
  for (const JsonValue& row : rows.items()) {
    const MetricSchedule schedule(config_of(row), row.find("base_lr")->as_double());
    MetricScheduleState state = schedule.initial_state();
    for (const JsonValue& metric : row.find("metrics")->items()) {
      const std::string saved = metric_schedule_state_to_json(state).dump();
      const MetricScheduleState back = metric_schedule_state_from_json(base::parse_json(saved, "state"), "state");
      const MetricScheduleState from_back = schedule.next(back, metric.as_double());
      state = schedule.next(state, metric.as_double());
      EXPECT_EQ(metric_schedule_state_to_json(state).dump(), metric_schedule_state_to_json(from_back).dump());
    }
  }
  EXPECT_THROW(metric_schedule_state_from_json(JsonValue::object(), "state"), base::UserError);
}

TEST(MetricSchedule, IsToldFromSchedulesOfTheStep) {
  config::ScheduleConfig config;
  config.type = "greedy";
  EXPECT_TRUE(follows_metric(config));
  config.family = config::ScheduleFamily::kDeepSpeed;
  EXPECT_FALSE(follows_metric(config));
  config = {};
  config.type = "cosine";
  EXPECT_FALSE(follows_metric(config));
}

}  // namespace
}  // namespace athanor::schedule
