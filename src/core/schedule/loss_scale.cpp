#include "core/schedule/loss_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"

namespace athanor::schedule {

namespace {

ScalerDecision next_deepspeed(const config::ScalerConfig& config, ScalerState state, bool overflow) {
  bool at_minimum = false;
  if (overflow) {
    if (config.hysteresis == 1 || state.hysteresis_left == 1) {
      at_minimum = state.scale == config.minimum_scale;
      state.scale = std::max(state.scale * config.backoff_factor, config.minimum_scale);
    } else {
      --state.hysteresis_left;
    }
    state.last_overflow_step = state.steps;
  } else {
    if (config.consecutive_hysteresis) state.hysteresis_left = config.hysteresis;
    const std::int64_t stable = state.steps - state.last_overflow_step - 1;
    if (stable > 0 && stable % config.growth_interval == 0) {
      state.hysteresis_left = config.hysteresis;
      state.scale *= config.growth_factor;
    }
  }
  ++state.steps;
  return {state, at_minimum};
}

// torch keeps the scale in fp32; growth that would leave its range is refused.
ScalerDecision next_torch(const config::ScalerConfig& config, ScalerState state, bool overflow) {
  if (overflow) {
    state.scale = static_cast<float>(state.scale * config.backoff_factor);
    state.clean_steps = 0;
    state.last_overflow_step = state.steps;
  } else if (++state.clean_steps == config.growth_interval) {
    const double grown = state.scale * config.growth_factor;
    if (grown <= std::numeric_limits<float>::max()) state.scale = static_cast<float>(grown);
    state.clean_steps = 0;
  }
  ++state.steps;
  return {state, false};
}

}  // namespace

ScalerState initial_scaler_state(const config::ScalerConfig& config) {
  ScalerState state;
  state.scale = config.initial_scale;
  state.hysteresis_left = config.hysteresis;
  return state;
}

ScalerDecision next_scaler_state(const config::ScalerConfig& config, const ScalerState& state, bool overflow) {
  switch (config.rule) {
    case config::ScalerRule::kDeepSpeed:
      return next_deepspeed(config, state, overflow);
    case config::ScalerRule::kTorch:
      return next_torch(config, state, overflow);
    case config::ScalerRule::kStatic:
      break;
  }
  ScalerState next = state;
  if (overflow) next.last_overflow_step = next.steps;
  ++next.steps;
  return {next, false};
}

base::JsonValue scaler_state_to_json(const ScalerState& state) {
  base::JsonValue json = base::JsonValue::object();
  json.set("scale", state.scale);
  json.set("steps", state.steps);
  json.set("last_overflow_step", state.last_overflow_step);
  json.set("hysteresis_left", state.hysteresis_left);
  json.set("clean_steps", state.clean_steps);
  return json;
}

ScalerState scaler_state_from_json(const base::JsonValue& json, const std::string& where) {
  const auto integer = [&](const char* key) {
    const base::JsonValue* value = json.find(key);
    if (value == nullptr || !value->is_integer()) {
      throw base::UserError(fmt::format("the loss scaler's {} is missing or no whole number", key), where,
                            "resume from another checkpoint");
    }
    return value->as_integer();
  };
  const base::JsonValue* scale = json.find("scale");
  if (scale == nullptr || !scale->is_number() || !(scale->as_double() > 0) || !std::isfinite(scale->as_double())) {
    throw base::UserError("the loss scale is missing or impossible", where, "resume from another checkpoint");
  }
  ScalerState state;
  state.scale = scale->as_double();
  state.steps = integer("steps");
  state.last_overflow_step = integer("last_overflow_step");
  state.hysteresis_left = integer("hysteresis_left");
  state.clean_steps = integer("clean_steps");
  return state;
}

}  // namespace athanor::schedule
