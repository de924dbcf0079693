// Writes checkpoint folders and the final model folder.
//
// Order:   all parts in "<folder>.tmp-athanor", each synced; the manifest; the folder synced; renamed; the parent synced. A reader
//          sees no folder or a whole one, also after a power cut. Fault points are hit at the instants they name.
// Fails:   EnvironmentError (disk full, read-only); the half-written folder is then removed, and what was there before is untouched.
// Threads: confined to the training thread. What is saved is behind TensorSource, so a snapshot can take the store's place.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/checkpoint/manifest.h"
#include "engine/checkpoint/tensor_source.h"

namespace athanor::checkpoint {

using TextFiles = std::vector<std::pair<std::string, std::string>>;  // name, content

// Decimal, as transformers 5 counts it.
inline constexpr std::uint64_t kMaxShardBytes = 50'000'000'000;

struct SaveRequest {
  std::string folder;  // ".../checkpoint-400"
  std::vector<TensorSource> weights;
  std::vector<TensorSource> optimizer;  // empty for Contents::kModelOnly
  TextFiles text_files;                 // config.json, tokenizer files, trainer_state.json, ...
  Manifest manifest;                    // without parts
  std::uint64_t max_shard_bytes = kMaxShardBytes;
};

void write_checkpoint(const SaveRequest& request);

// The model alone into a folder that may exist: every file is whole before it takes its name, weights before their index. Weight
// files of an earlier save that this one does not name are removed.
void write_model_folder(const std::string& folder, const std::vector<TensorSource>& weights,
                        const TextFiles& text_files, std::uint64_t max_shard_bytes = kMaxShardBytes);

// Bytes a save of these tensors takes on disk, text files aside.
std::uint64_t planned_bytes(const std::vector<TensorSource>& sources);

}  // namespace athanor::checkpoint
