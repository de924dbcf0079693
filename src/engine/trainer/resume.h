// What to resume from, and taking it over.
//
// Fails:   UserError: the named checkpoint is not whole, is of another model or other data; nothing whole among checkpoints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/config/run_config.h"
#include "core/formats/trainer_state.h"
#include "engine/checkpoint/loader.h"
#include "engine/checkpoint/retention.h"
#include "engine/trainer/run_state.h"

namespace athanor::trainer {

struct ResumeSource {
  std::optional<checkpoint::FoundCheckpoint> checkpoint;  // none: start from the beginning
  std::vector<std::string> notes;
};
// resume_from "": none. "true": the newest whole checkpoint of the output folder; from the beginning when it holds none at all. A
// folder: that one.
ResumeSource find_resume_source(const config::CheckpointConfig& config);

struct ResumedState {
  RunState state;
  formats::TrainerState trainer_state;
  std::vector<std::string> notes;  // settings that differ
};
// Fills store and optimizer and gives the rest.
ResumedState resume(const checkpoint::FoundCheckpoint& found, const TrajectorySettings& now, shard::FlatStore& store,
                    optim::Optimizer& optimizer);

}  // namespace athanor::trainer
