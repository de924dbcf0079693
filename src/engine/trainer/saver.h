// Puts the run's model and state on disk: checkpoints with what has to be kept beside them, and the final folder.
//
// Fails:   EnvironmentError or UserError from the disk; earlier checkpoints are untouched then.
// Threads: confined to the training thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config/run_config.h"
#include "core/formats/trainer_state.h"
#include "engine/checkpoint/writer.h"
#include "engine/optim/optimizer.h"
#include "engine/shard/flat_store.h"
#include "engine/trainer/model_input.h"
#include "engine/trainer/output_folder.h"
#include "engine/trainer/run_state.h"

namespace athanor::trainer {

class Saver {
 public:
  // All must outlive the saver.
  Saver(const config::RunConfig& config, config::Precision compute, const ModelInput& input,
        const shard::FlatStore& store, const optim::Optimizer& optimizer, TrajectorySettings settings);

  // Writes checkpoint-N. Sets state.best_model_checkpoint when the best step has a checkpoint, this one included.
  void save_checkpoint(const RunState& state, formats::TrainerState& trainer_state, checkpoint::Contents contents);
  // Applies save_total_limit; gives the steps that were removed.
  std::vector<std::int64_t> remove_old(const formats::TrainerState& trainer_state) const;
  // The final Hugging Face folder.
  void save_model() const;
  void save_trainer_state(const formats::TrainerState& trainer_state) const;

 private:
  checkpoint::TextFiles model_files(formats::Dtype type) const;
  formats::Dtype checkpoint_type(checkpoint::Contents contents) const;

  const config::RunConfig& config_;
  config::Precision compute_;
  const ModelInput& input_;
  const shard::FlatStore& store_;
  const optim::Optimizer& optimizer_;
  TrajectorySettings settings_;
};

// What saving will take, before anything is allocated.
SpaceNeeds space_needs(const config::RunConfig& config, config::Precision compute, const ModelInput& input,
                       const shard::FlatLayout& layout, std::int64_t num_saves);

}  // namespace athanor::trainer
