// The weights of a model folder: model.safetensors, or the shards that model.safetensors.index.json names.
//
// Format:  the index is {"metadata": {"total_size": bytes, "total_parameters": n}, "weight_map": {tensor: file}}. Shard names are
//          taken from it, never constructed (published models number them in several ways); metadata is not relied on.
// Owns:    the memory maps. Threads: immutable.
// Fails:   UserError: no weights, a shard that the index names is missing or torn, a tensor that is not where the index says.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/safetensors.h"
#include "core/formats/safetensors_writer.h"

namespace athanor::formats {

inline constexpr const char* kSingleWeightFile = "model.safetensors";
inline constexpr const char* kWeightIndexFile = "model.safetensors.index.json";

class WeightFiles {
 public:
  // `path`: a folder, or one safetensors file.
  static WeightFiles open(const std::string& path);

  struct Tensor {
    const SafetensorsFile* file = nullptr;
    const TensorInfo* info = nullptr;
    std::span<const std::byte> bytes() const { return file->bytes(*info); }
    std::string place() const { return file->place(*info); }
  };

  // By name, sorted.
  const std::map<std::string, Tensor, std::less<>>& tensors() const { return tensors_; }
  std::optional<Tensor> find(std::string_view name) const;
  const std::vector<std::unique_ptr<SafetensorsFile>>& files() const { return files_; }

 private:
  void add_file(const std::string& path);
  void add_shards(const std::string& folder);

  std::vector<std::unique_ptr<SafetensorsFile>> files_;
  std::map<std::string, Tensor, std::less<>> tensors_;
};

// One file of a sharded save.
struct WeightShard {
  std::string file_name;  // model.safetensors, or model-00001-of-00003.safetensors
  std::vector<TensorPlan> tensors;
};

// Fills shards greedily in the given order: one is closed when the next tensor would take it above `max_shard_bytes`; a tensor
// above the limit gets one of its own. Agrees with huggingface_hub's split of a state dict.
std::vector<WeightShard> plan_weight_shards(const std::vector<TensorPlan>& tensors, std::uint64_t max_shard_bytes);

// The text of model.safetensors.index.json for more than one shard.
std::string weight_index_json(const std::vector<WeightShard>& shards);

}  // namespace athanor::formats
