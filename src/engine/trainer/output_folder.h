// The folder a run writes to: made, tried, locked, and checked against what is asked of it, before anything costs time.
//
// Owns:    the lock (a second run into the same folder is refused) until destruction.
// Fails:   UserError: not writable, in use, holds the checkpoints of another run. EnvironmentError: too little space.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/file.h"
#include "core/config/run_config.h"

namespace athanor::trainer {

class OutputFolder {
 public:
  explicit OutputFolder(const config::CheckpointConfig& config);

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  base::FileLock lock_;
};

// What the run will put on disk at its fullest.
struct SpaceNeeds {
  std::uint64_t checkpoint_bytes = 0;
  std::int64_t num_checkpoints = 0;  // kept at the same time, the one being written included
  std::uint64_t model_bytes = 0;     // the final folder
};
// One checkpoint and the final model are needed for anything to come of the run.
std::uint64_t least_bytes(const SpaceNeeds& needs);
std::uint64_t most_bytes(const SpaceNeeds& needs);

// Fails: EnvironmentError (exit 3) when not even least_bytes fit. Gives a sentence when most_bytes do not; else "".
std::string check_space(const std::string& folder, std::uint64_t free_bytes, const SpaceNeeds& needs);

// Checkpoints on disk at the same time: all saves, or the limit and the one being written.
std::int64_t checkpoints_kept(std::int64_t num_saves, std::optional<std::int64_t> save_total_limit);

}  // namespace athanor::trainer
