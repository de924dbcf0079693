#include "core/schedule/loss_scale.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/schedule/clipping.h"

namespace athanor::schedule {
namespace {

config::ScalerConfig deepspeed_config(double scale, std::int64_t window, std::int64_t hysteresis) {
  config::ScalerConfig config;
  config.rule = config::ScalerRule::kDeepSpeed;
  config.initial_scale = scale;
  config.growth_interval = window;
  config.hysteresis = hysteresis;
  return config;
}

TEST(LossScale, EqualsTheReferencesExactly) {
  const base::JsonValue reference = base::parse_json_file(ATHANOR_SOURCE_DIR "/tests/parity/schedules/expected.json");
  ASSERT_EQ(reference.find("scalers")->items().size(), 4u);
  for (const base::JsonValue& row : reference.find("scalers")->items()) {
    const base::JsonValue& parameters = *row.find("params");
    config::ScalerConfig config;
    config.initial_scale = parameters.find("init_scale")->as_double();
    if (row.find("family")->as_string() == "deepspeed") {
      config.rule = config::ScalerRule::kDeepSpeed;
      config.growth_interval = parameters.find("scale_window")->as_integer();
      config.minimum_scale = parameters.find("min_scale")->as_double();
      config.hysteresis = parameters.find("delayed_shift")->as_integer();
      config.consecutive_hysteresis = parameters.find("consecutive_hysteresis")->as_bool();
    } else {
      config.growth_interval = parameters.find("growth_interval")->as_integer();
    }
    ScalerState state = initial_scaler_state(config);
    for (const base::JsonValue& step : row.find("overflow_scale_used_scale_after")->items()) {
      EXPECT_EQ(state.scale, step.items()[1].as_double());
      state = next_scaler_state(config, state, step.items()[0].as_bool()).next;
      EXPECT_EQ(state.scale, step.items()[2].as_double());
    }
  }
}

TEST(LossScale, DeepSpeedStopsAtTheMinimum) {
  const config::ScalerConfig config = deepspeed_config(16, 1000, 2);
  ScalerState state = initial_scaler_state(config);
  std::vector<double> scales;
  bool stopped = false;
  while (!stopped && scales.size() < 100) {
    const ScalerDecision decision = next_scaler_state(config, state, true);
    stopped = decision.at_minimum;
    state = decision.next;
    scales.push_back(state.scale);
  }
  EXPECT_EQ(scales, (std::vector<double>{16, 8, 4, 2, 1, 1}));
}

TEST(LossScale, EighteenthOverflowFrom65536IsTheLast) {
  const config::ScalerConfig config = deepspeed_config(65536, 1000, 2);
  ScalerState state = initial_scaler_state(config);
  int overflows = 1;
  while (true) {
    const ScalerDecision decision = next_scaler_state(config, state, true);
    if (decision.at_minimum) break;
    state = decision.next;
    ++overflows;
  }
  EXPECT_EQ(overflows, 18);
}

TEST(LossScale, TorchRefusesToGrowOutOfRange) {
  config::ScalerConfig config;
  config.initial_scale = 3e38;
  config.growth_interval = 1;
  const ScalerState state = next_scaler_state(config, initial_scaler_state(config), false).next;
  EXPECT_EQ(state.scale, 3e38);
}

TEST(LossScale, StaticScaleNeverMoves) {
  config::ScalerConfig config;
  config.rule = config::ScalerRule::kStatic;
  config.initial_scale = 128;
  ScalerState state = initial_scaler_state(config);
  for (int i = 0; i < 10; ++i) state = next_scaler_state(config, state, i % 2 == 0).next;
  EXPECT_EQ(state.scale, 128);
  EXPECT_EQ(state.steps, 10);
}

TEST(LossScale, StateSurvivesTheCheckpoint) {
  const config::ScalerConfig config = deepspeed_config(65536, 3, 2);
  ScalerState state = initial_scaler_state(config);
  for (int i = 0; i < 7; ++i) state = next_scaler_state(config, state, i % 3 == 0).next;
  const std::string text = scaler_state_to_json(state).dump();
  EXPECT_EQ(scaler_state_from_json(base::parse_json(text, "state.json"), "state.json"), state);
  EXPECT_THROW(scaler_state_from_json(base::parse_json("{}", "state.json"), "state.json"), base::UserError);
  EXPECT_THROW(scaler_state_from_json(base::parse_json(R"({"scale": 0})", "state.json"), "state.json"),
               base::UserError);
}

TEST(Clipping, IsTorchsCoefficient) {
  EXPECT_DOUBLE_EQ(clip_coefficient(5.0, 1.0), 1.0 / (5.0 + 1e-6));
  EXPECT_DOUBLE_EQ(clip_coefficient(0.5, 1.0), 1.0);
  EXPECT_DOUBLE_EQ(clip_coefficient(5.0, 0.0), 1.0);
  EXPECT_DOUBLE_EQ(clip_coefficient(std::numeric_limits<double>::infinity(), 1.0), 1.0);
  EXPECT_DOUBLE_EQ(clip_coefficient(std::nan(""), 1.0), 1.0);
}

}  // namespace
}  // namespace athanor::schedule
