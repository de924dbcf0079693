#include "engine/checkpoint/writer.h"

#include <filesystem>
#include <map>
#include <set>

#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "core/base/fault_point.h"
#include "core/base/file.h"
#include "core/formats/weight_files.h"

namespace athanor::checkpoint {

namespace {

namespace fs = std::filesystem;

std::vector<formats::TensorPlan> plans_of(const std::vector<TensorSource>& sources) {
  std::vector<formats::TensorPlan> plans;
  for (const TensorSource& source : sources) plans.push_back(source.plan);
  return plans;
}

using SourcesByName = std::map<std::string, const TensorSource*, std::less<>>;

SourcesByName by_name(const std::vector<TensorSource>& sources) {
  SourcesByName result;
  for (const TensorSource& source : sources) result[source.plan.name] = &source;
  return result;
}

Part write_tensors(const std::string& folder, const std::string& file, const std::vector<formats::TensorPlan>& plans,
                   const SourcesByName& sources) {
  formats::SafetensorsWriter writer(folder + "/" + file, plans);
  const std::size_t middle = writer.tensors().size() / 2;
  for (std::size_t i = 0; i < writer.tensors().size(); ++i) {
    if (i == middle) base::fault_point(base::FaultPoint::kCheckpointMidWrite);
    sources.find(writer.tensors()[i].name)->second->emit([&](std::span<const std::byte> bytes) {
      writer.write(bytes);
    });
  }
  const formats::WrittenFile written = writer.finish();
  return {file, written.num_bytes, written.crc32c};
}

Part write_text(const std::string& folder, const std::string& file, const std::string& content) {
  base::FileWriter writer(folder + "/" + file);
  writer.write(content);
  writer.sync();
  writer.close();
  return {file, content.size(), base::crc32c(0, content.data(), content.size())};
}

std::vector<Part> write_weights(const std::string& folder, const std::vector<TensorSource>& weights,
                                std::uint64_t max_shard_bytes) {
  const std::vector<formats::WeightShard> shards = formats::plan_weight_shards(plans_of(weights), max_shard_bytes);
  const SourcesByName sources = by_name(weights);
  std::vector<Part> parts;
  for (const formats::WeightShard& shard : shards)
    parts.push_back(write_tensors(folder, shard.file_name, shard.tensors, sources));
  if (shards.size() > 1)
    parts.push_back(write_text(folder, formats::kWeightIndexFile, formats::weight_index_json(shards)));
  return parts;
}

void write_parts(const SaveRequest& request, const std::string& folder) {
  Manifest manifest = request.manifest;
  manifest.parts = write_weights(folder, request.weights, request.max_shard_bytes);
  if (!request.optimizer.empty()) {
    manifest.parts.push_back(
        write_tensors(folder, kOptimizerFile, plans_of(request.optimizer), by_name(request.optimizer)));
  }
  for (const auto& [name, content] : request.text_files) manifest.parts.push_back(write_text(folder, name, content));
  base::sync_folder(folder);
  base::fault_point(base::FaultPoint::kCheckpointBeforeManifest);
  write_text(folder, kManifestFile, manifest_text(manifest));
  base::sync_folder(folder);
}

bool is_weight_file(const std::string& name) {
  return name == formats::kSingleWeightFile || name == formats::kWeightIndexFile ||
         (name.starts_with("model-") && name.ends_with(".safetensors"));
}

}  // namespace

void write_checkpoint(const SaveRequest& request) {
  const std::string temporary = request.folder + std::string(base::kTemporarySuffix);
  std::error_code ignored;
  fs::remove_all(temporary, ignored);
  base::make_folders(temporary);
  try {
    base::fault_point(base::FaultPoint::kCheckpointBegin);
    write_parts(request, temporary);
    base::fault_point(base::FaultPoint::kCheckpointBeforeRename);
    // The same step again, after a resume from before it: the old one gives up its name at the last moment.
    const std::string replaced = request.folder + ".replaced" + std::string(base::kTemporarySuffix);
    fs::remove_all(replaced, ignored);
    fs::rename(request.folder, replaced, ignored);
    base::rename_durably(temporary, request.folder);
    fs::remove_all(replaced, ignored);
  } catch (const base::EnvironmentError&) {
    fs::remove_all(temporary, ignored);
    throw;
  }
  base::fault_point(base::FaultPoint::kCheckpointAfterRename);
}

void write_model_folder(const std::string& folder, const std::vector<TensorSource>& weights,
                        const TextFiles& text_files, std::uint64_t max_shard_bytes) {
  const std::string temporary = folder + "/model" + std::string(base::kTemporarySuffix);
  std::error_code ignored;
  fs::remove_all(temporary, ignored);
  base::make_folders(temporary);
  std::set<std::string> kept;
  try {
    for (const Part& part : write_weights(temporary, weights, max_shard_bytes)) {
      base::rename_durably(temporary + "/" + part.file, folder + "/" + part.file);
      kept.insert(part.file);
    }
    for (const auto& [name, content] : text_files) base::write_whole(folder + "/" + name, content);
  } catch (const base::EnvironmentError&) {
    fs::remove_all(temporary, ignored);
    throw;
  }
  fs::remove_all(temporary, ignored);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (is_weight_file(name) && !kept.contains(name)) fs::remove(entry.path(), ignored);
  }
}

std::uint64_t planned_bytes(const std::vector<TensorSource>& sources) {
  std::uint64_t total = 0;
  for (const TensorSource& source : sources) total += source.plan.num_bytes();
  return total;
}

}  // namespace athanor::checkpoint
