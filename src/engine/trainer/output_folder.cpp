#include "engine/trainer/output_folder.h"

#include <errno.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "engine/checkpoint/retention.h"
#include "engine/trainer/progress.h"

namespace athanor::trainer {

namespace {

std::string made(const std::string& path) {
  base::make_folders(path);
  // The permissions of a folder do not say everything; writing does.
  const std::string probe = path + "/probe" + std::string(base::kTemporarySuffix);
  base::write_whole(probe, "can this folder be written?\n");
  std::error_code ignored;
  std::filesystem::remove(probe, ignored);
  return path;
}

void refuse_foreign_checkpoints(const config::CheckpointConfig& config) {
  if (config.overwrite_output_dir || !config.resume_from.empty()) return;
  const std::vector<std::int64_t> steps = checkpoint::list_checkpoints(config.output_dir);
  if (steps.empty()) return;
  throw base::UserError(
      fmt::format("the output folder already holds a run (checkpoint-{})", steps.back()), config.output_dir,
      "continue it with --resume_from_checkpoint true, replace it with --overwrite_output_dir true, or name "
      "another --output_dir");
}

}  // namespace

OutputFolder::OutputFolder(const config::CheckpointConfig& config)
    : path_(made(config.output_dir)), lock_(base::FileLock::try_lock(path_ + "/.athanor.lock")) {
  if (!lock_.held()) {
    throw base::UserError("another run is writing to the output folder", path_,
                          "wait for it, or name another --output_dir");
  }
  refuse_foreign_checkpoints(config);
}

std::uint64_t least_bytes(const SpaceNeeds& needs) {
  return needs.model_bytes + (needs.num_checkpoints > 0 ? needs.checkpoint_bytes : 0);
}

std::uint64_t most_bytes(const SpaceNeeds& needs) {
  return needs.model_bytes + needs.checkpoint_bytes * static_cast<std::uint64_t>(needs.num_checkpoints);
}

std::string check_space(const std::string& folder, std::uint64_t free_bytes, const SpaceNeeds& needs) {
  const auto text = [](std::uint64_t bytes) { return format_bytes(static_cast<std::int64_t>(bytes)); };
  if (free_bytes < least_bytes(needs)) {
    throw base::EnvironmentError(
        fmt::format("the disk has {} left, {} are needed for {}the model", text(free_bytes), text(least_bytes(needs)),
                    needs.num_checkpoints > 0 ? "one checkpoint and " : ""),
        folder,
        "free some space, name a folder on another disk, or save less (--save_strategy no, --save_only_model true)",
        ENOSPC);
  }
  if (free_bytes < most_bytes(needs)) {
    return fmt::format(
        "the disk has {} left; {} checkpoints and the model would take {}. Set --save_total_limit to keep fewer.",
        text(free_bytes), needs.num_checkpoints, text(most_bytes(needs)));
  }
  return "";
}

std::int64_t checkpoints_kept(std::int64_t num_saves, std::optional<std::int64_t> save_total_limit) {
  if (!save_total_limit || *save_total_limit < 1) return num_saves;
  return std::min(num_saves, *save_total_limit + 1);
}

}  // namespace athanor::trainer
