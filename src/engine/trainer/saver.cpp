#include "engine/trainer/saver.h"

#include <filesystem>

#include "core/architecture/config_json.h"
#include "core/base/fault_point.h"
#include "core/base/file.h"
#include "engine/checkpoint/retention.h"

namespace athanor::trainer {

namespace {

// Note [Weights in a checkpoint]: fp32 training keeps fp32 weights, whatever the final folder is saved in, because a 16-bit file
// could not give the master back without being as large again.
formats::Dtype training_weight_type(config::Precision compute, formats::Dtype saved_type) {
  return compute == config::Precision::kFloat32 ? formats::Dtype::kFloat32 : saved_type;
}

std::uint64_t bytes_each(formats::Dtype type) { return static_cast<std::uint64_t>(formats::dtype_bits(type)) / 8; }

}  // namespace

Saver::Saver(const config::RunConfig& config, config::Precision compute, const ModelInput& input,
             const shard::FlatStore& store, const optim::Optimizer& optimizer, TrajectorySettings settings)
    : config_(config),
      compute_(compute),
      input_(input),
      store_(store),
      optimizer_(optimizer),
      settings_(std::move(settings)) {}

checkpoint::TextFiles Saver::model_files(formats::Dtype type) const {
  checkpoint::TextFiles files = input_.companion_files;
  files.emplace_back("config.json", architecture::saved_config_json(input_.config, type).dump(2) + "\n");
  files.emplace_back("generation_config.json", input_.generation_config.dump(2) + "\n");
  return files;
}

formats::Dtype Saver::checkpoint_type(checkpoint::Contents contents) const {
  if (contents == checkpoint::Contents::kModelOnly) return input_.saved_type;
  return training_weight_type(compute_, input_.saved_type);
}

void Saver::save_checkpoint(const RunState& state, formats::TrainerState& trainer_state,
                            checkpoint::Contents contents) {
  const std::string& output_dir = config_.checkpoint.output_dir;
  checkpoint::SaveRequest request;
  request.folder = checkpoint::checkpoint_folder(output_dir, state.step);
  if (trainer_state.best_global_step) {
    const std::string best = checkpoint::checkpoint_folder(output_dir, *trainer_state.best_global_step);
    if (best == request.folder || std::filesystem::exists(best)) trainer_state.best_model_checkpoint = best;
  }
  const formats::Dtype type = checkpoint_type(contents);
  const bool training = contents == checkpoint::Contents::kTraining;
  request.weights = checkpoint::weight_sources(
      store_, type, training ? checkpoint::BfloatRounding::kTiesAway : checkpoint::BfloatRounding::kTiesToEven);
  if (training) request.optimizer = checkpoint::optimizer_sources(store_, optimizer_, type);
  request.text_files = model_files(type);
  request.text_files.emplace_back(checkpoint::kTrainerStateFile, formats::trainer_state_to_text(trainer_state));
  request.manifest.step = state.step;
  request.manifest.contents = contents;
  request.manifest.optimizer_kind = checkpoint::optimizer_kind_name(optimizer_.config().kind);
  request.manifest.optimizer_steps = optimizer_.num_steps();
  request.manifest.state = run_state_to_json(state, settings_);
  checkpoint::write_checkpoint(request);
}

std::vector<std::int64_t> Saver::remove_old(const formats::TrainerState& trainer_state) const {
  const std::string& output_dir = config_.checkpoint.output_dir;
  std::optional<std::int64_t> best;
  if (trainer_state.best_model_checkpoint) best = checkpoint::checkpoint_step(*trainer_state.best_model_checkpoint);
  const std::vector<std::int64_t> removed =
      checkpoint::decide_retention(checkpoint::list_checkpoints(output_dir), config_.checkpoint.save_total_limit, best);
  for (const std::int64_t step : removed)
    checkpoint::remove_checkpoint(checkpoint::checkpoint_folder(output_dir, step));
  return removed;
}

void Saver::save_model() const {
  checkpoint::write_model_folder(
      config_.checkpoint.output_dir,
      checkpoint::weight_sources(store_, input_.saved_type, checkpoint::BfloatRounding::kTiesToEven),
      model_files(input_.saved_type));
}

void Saver::save_trainer_state(const formats::TrainerState& trainer_state) const {
  base::fault_point(base::FaultPoint::kTrainerStateBeforeWrite);
  base::write_whole(config_.checkpoint.output_dir + "/" + checkpoint::kTrainerStateFile,
                    formats::trainer_state_to_text(trainer_state));
}

SpaceNeeds space_needs(const config::RunConfig& config, config::Precision compute, const ModelInput& input,
                       const shard::FlatLayout& layout, std::int64_t num_saves) {
  const std::uint64_t n = static_cast<std::uint64_t>(layout.num_parameter_elements());
  SpaceNeeds needs;
  needs.model_bytes = n * bytes_each(input.saved_type);
  needs.num_checkpoints = checkpoints_kept(num_saves, config.checkpoint.save_total_limit);
  if (config.checkpoint.save_only_model) {
    needs.checkpoint_bytes = n * bytes_each(input.saved_type);
    return needs;
  }
  const formats::Dtype type = training_weight_type(compute, input.saved_type);
  const std::uint64_t moments = 4 * static_cast<std::uint64_t>(optim::num_states(config.optimizer));
  const std::uint64_t rest = type == formats::Dtype::kBfloat16 ? 2 : type == formats::Dtype::kFloat16 ? 4 : 0;
  needs.checkpoint_bytes = n * (bytes_each(type) + moments + rest);
  return needs;
}

}  // namespace athanor::trainer
