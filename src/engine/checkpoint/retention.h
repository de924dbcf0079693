// Which checkpoints a run folder holds, which of them to resume from, and which to give up.
//
// Threads: decide_retention is pure; the others read and change the folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/checkpoint/manifest.h"

namespace athanor::checkpoint {

std::string checkpoint_folder(const std::string& output_dir, std::int64_t step);
// The N of ".../checkpoint-N"; nothing for another name.
std::optional<std::int64_t> checkpoint_step(const std::string& folder);

// Steps of the folders named checkpoint-N, ascending, whole or not.
std::vector<std::int64_t> list_checkpoints(const std::string& output_dir);

struct FoundCheckpoint {
  std::string folder;
  Manifest manifest;
};

struct Search {
  std::optional<FoundCheckpoint> found;  // the newest one that can be resumed from
  std::vector<std::string>
      passed_over;  // "checkpoint-500 is not whole (optimizer.safetensors is missing)", newest first
};
// Reads the parts of the candidates: the one found has the bytes that were written.
Search find_newest(const std::string& output_dir);

// Steps to remove, oldest first, so that at most `limit` remain. The newest and the best are never removed, so more than `limit`
// may stay. No limit or one below 1 removes nothing. Agrees with transformers' rotate_checkpoints.
std::vector<std::int64_t> decide_retention(const std::vector<std::int64_t>& ascending_steps,
                                           std::optional<std::int64_t> limit, std::optional<std::int64_t> best_step);

// Takes its name away first, so that a half-removed folder is never taken for a checkpoint.
void remove_checkpoint(const std::string& folder);
// Temporary folders that a killed process left behind.
void remove_leftovers(const std::string& output_dir);

}  // namespace athanor::checkpoint
