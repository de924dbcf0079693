#include "engine/trainer/resume.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/json.h"

namespace athanor::trainer {

namespace {

ResumeSource find_named(const std::string& folder) {
  base::Result<checkpoint::Manifest> manifest = checkpoint::check_folder(folder, checkpoint::Thoroughness::kChecksums);
  if (!manifest.ok()) {
    throw base::UserError(fmt::format("this checkpoint is not whole ({})", manifest.error().what), folder,
                          "name an earlier one, or --resume_from_checkpoint true for the newest whole one");
  }
  if (manifest.value().contents == checkpoint::Contents::kModelOnly) {
    throw base::UserError(
        "this checkpoint holds the model only (save_only_model), so training cannot be resumed from it", folder,
        "start a new run from its weights with --model_name_or_path");
  }
  return {checkpoint::FoundCheckpoint{folder, std::move(manifest).value()}, {}};
}

ResumeSource find_newest_in(const std::string& output_dir) {
  checkpoint::Search search = checkpoint::find_newest(output_dir);
  ResumeSource source;
  for (const std::string& passed_over : search.passed_over) {
    if (search.found) {
      source.notes.push_back(fmt::format("{}, using checkpoint-{}", passed_over, search.found->manifest.step));
    }
  }
  if (!search.found && !search.passed_over.empty()) {
    throw base::UserError(
        fmt::format("no checkpoint can be resumed from: {}", search.passed_over.front()), output_dir,
        "name one with --resume_from_checkpoint FOLDER, or start anew with --overwrite_output_dir true");
  }
  if (!search.found) source.notes.push_back("there is no checkpoint yet: starting from the beginning");
  source.checkpoint = std::move(search.found);
  return source;
}

}  // namespace

ResumeSource find_resume_source(const config::CheckpointConfig& config) {
  if (config.resume_from.empty()) return {};
  if (config.resume_from == "true") return find_newest_in(config.output_dir);
  return find_named(config.resume_from);
}

ResumedState resume(const checkpoint::FoundCheckpoint& found, const TrajectorySettings& now, shard::FlatStore& store,
                    optim::Optimizer& optimizer) {
  checkpoint::check_same_model(found.folder, found.manifest, store, optimizer);
  ResumedState resumed;
  resumed.notes = compare_settings(found.manifest.state, now, found.folder);
  resumed.state = run_state_from_json(found.manifest.state, found.folder);
  const std::string state_path = found.folder + "/" + checkpoint::kTrainerStateFile;
  resumed.trainer_state = formats::parse_trainer_state(base::parse_json_file(state_path), state_path);
  checkpoint::load_checkpoint(found.folder, found.manifest, store, optimizer);
  return resumed;
}

}  // namespace athanor::trainer
