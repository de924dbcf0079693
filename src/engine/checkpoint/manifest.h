// state.json, the file that makes a folder a checkpoint: it is written last and names every other part with size and checksum.
//
// Format:  docs/formats/checkpoint.md. A folder without a manifest that agrees with its parts is never resumed from.
// Threads: pure functions, but for check_parts, which reads files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"

namespace athanor::checkpoint {

inline constexpr const char* kManifestFile = "state.json";
inline constexpr const char* kOptimizerFile = "optimizer.safetensors";
inline constexpr const char* kTrainerStateFile = "trainer_state.json";

struct Part {
  std::string file;  // relative to the folder
  std::uint64_t num_bytes = 0;
  std::uint32_t crc32c = 0;
  bool operator==(const Part&) const = default;
};

enum class Contents {
  kTraining,   // weights, optimizer and state: can be resumed from
  kModelOnly,  // save_only_model
};

struct Manifest {
  std::int64_t step = 0;
  Contents contents = Contents::kTraining;
  std::string optimizer_kind;                         // "adamw", ...; empty for kModelOnly
  std::int64_t optimizer_steps = 0;                   // applied updates
  base::JsonValue state = base::JsonValue::object();  // the trainer's
  std::vector<Part> parts;
};

std::string manifest_text(const Manifest& manifest);
// Fails with what is wrong: not JSON, its own checksum differs, a newer version.
base::Result<Manifest> parse_manifest(const std::string& text, const std::string& path);

enum class Thoroughness {
  kSizes,      // every part is there with its size
  kChecksums,  // and has the bytes that were written
};
// Reads the manifest of a folder and holds the parts to it. Fails with one sentence: "optimizer.safetensors has 1024 of 4096 bytes".
base::Result<Manifest> check_folder(const std::string& folder, Thoroughness thoroughness);

}  // namespace athanor::checkpoint
