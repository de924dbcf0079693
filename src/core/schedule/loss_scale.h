// The loss scale of fp16 training: what the next step is scaled by, as a pure function of the state and whether this step
// overflowed.
//
// Source: torch 2.15 GradScaler (_amp_update_scale_), DeepSpeed 0.19.8 DynamicLossScaler; equal to both to the last step
//         (tests/parity/schedules). Deviation: gradients are always unscaled with the scale their backward used; DeepSpeed divides
//         by the grown scale on the one step where it grows.
#pragma once

#include <cstdint>

#include "core/base/json.h"
#include "core/config/run_config.h"

namespace athanor::schedule {

// Everything that a checkpoint must keep of a scaler.
struct ScalerState {
  double scale = 1.0;
  std::int64_t steps = 0;  // steps seen, skipped ones too
  std::int64_t last_overflow_step = -1;
  std::int64_t hysteresis_left = 1;  // DeepSpeed
  std::int64_t clean_steps = 0;      // torch: steps since the last growth or overflow

  bool operator==(const ScalerState&) const = default;
};

struct ScalerDecision {
  ScalerState next;
  bool at_minimum = false;  // DeepSpeed's rule: overflow although the scale cannot be lowered; the run must stop
};

ScalerState initial_scaler_state(const config::ScalerConfig& config);
ScalerDecision next_scaler_state(const config::ScalerConfig& config, const ScalerState& state, bool overflow);

base::JsonValue scaler_state_to_json(const ScalerState& state);
// `where` is the file for messages. Fails: UserError for missing or impossible values.
ScalerState scaler_state_from_json(const base::JsonValue& json, const std::string& where);

}  // namespace athanor::schedule
