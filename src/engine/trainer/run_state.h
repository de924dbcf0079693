// Everything a resumed run takes over besides weights, moments and trainer_state.json: the state of a checkpoint's manifest.
//
// The data position is the step itself: order is a pure function of seed, epoch and position (data/loader.h). So are noise and
// initialisation; no generator has a state to keep.
// Format:  docs/formats/checkpoint.md. Threads: pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/config/run_config.h"
#include "core/schedule/loss_scale.h"
#include "core/schedule/metric_schedule.h"
#include "engine/trainer/run_log.h"

namespace athanor::trainer {

struct RunState {
  std::int64_t step = 0;         // optimizer steps done, skipped ones counted
  schedule::ScalerState scaler;  // for the next step
  int consecutive_skips = 0;     // overflows in a row up to now
  bool evaluation_due = false;   // the evaluation that belongs to this step was interrupted
  // What the evaluations have made of the learning rate, where the schedule follows them.
  std::optional<schedule::MetricScheduleState> metric_schedule;
  std::string events_folder;  // TensorBoard's, relative to output_dir when inside it
  LogSums sums;
};

// What the trajectory depends on, by name, in words a person knows.
struct TrajectorySettings {
  base::JsonValue values = base::JsonValue::object();
};
struct DataIdentity {
  std::string fingerprint;
  std::int64_t num_rows = 0;
};
TrajectorySettings trajectory_settings(const config::RunConfig& config, config::Precision compute,
                                       std::int64_t total_steps, const DataIdentity& data);

base::JsonValue run_state_to_json(const RunState& state, const TrajectorySettings& settings);
// `where` is the checkpoint, for messages. Fails: UserError when the state is not what this release writes.
RunState run_state_from_json(const base::JsonValue& json, const std::string& where);

// Sentences on what differs between the run that wrote the state and this one. Fails: UserError when the data is not the same, so
// that the position in it means nothing.
std::vector<std::string> compare_settings(const base::JsonValue& saved_state, const TrajectorySettings& now,
                                          const std::string& where);

}  // namespace athanor::trainer
