#include "core/formats/weight_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "core/base/error.h"
#include "core/base/json.h"

namespace athanor::formats {
namespace {

namespace fs = std::filesystem;
using base::JsonValue;
using base::UserError;

std::string place(const std::string& path, base::Position position) {
  return fmt::format("{}:{}:{}", path, position.line, position.column);
}

// The tensor to file map of an index.
std::map<std::string, std::string> read_index(const std::string& path) {
  const JsonValue index = base::parse_json_file(path);
  const JsonValue* const weight_map = index.find("weight_map");
  if (weight_map == nullptr || !weight_map->is_object()) {
    throw UserError("this index of weight files has no weight_map", path, "copy or download the file again");
  }
  base::Problems problems;
  std::map<std::string, std::string> files;
  for (const base::JsonMember& member : weight_map->members()) {
    const std::string where = place(path, member.value.position());
    if (!member.value.is_string()) {
      problems.add(fmt::format("the file of {} is no text", member.key), where, "copy or download the file again");
    } else if (fs::path(member.value.as_string()).is_absolute() ||
               member.value.as_string().find("..") != std::string::npos) {
      problems.add(fmt::format("the file of {} lies outside the model's folder", member.key), where,
                   "put the file into the folder and give its name alone");
    } else if (!files.emplace(member.key, member.value.as_string()).second) {
      problems.add(fmt::format("{} occurs twice", member.key), where, "remove one of the two lines");
    }
  }
  if (files.empty() && problems.empty()) problems.add("weight_map is empty", path, "copy or download the file again");
  problems.throw_if_any();
  return files;
}

}  // namespace

WeightFiles WeightFiles::open(const std::string& path) {
  WeightFiles weights;
  if (!fs::is_directory(path)) {
    weights.add_file(path);
    return weights;
  }
  const fs::path folder(path);
  if (fs::exists(folder / kSingleWeightFile)) {
    weights.add_file((folder / kSingleWeightFile).string());
  } else if (fs::exists(folder / kWeightIndexFile)) {
    weights.add_shards(path);
  } else if (fs::exists(folder / "pytorch_model.bin") || fs::exists(folder / "pytorch_model.bin.index.json")) {
    throw UserError(
        "this folder has its weights as pytorch_model.bin, which is not read", path,
        "convert it once with transformers: AutoModelForCausalLM.from_pretrained(FOLDER).save_pretrained(NEW)");
  } else {
    throw UserError(fmt::format("this folder has no weights: neither {} nor {}", kSingleWeightFile, kWeightIndexFile),
                    path, "give the folder of a whole model, or --config_name to train one from scratch");
  }
  return weights;
}

std::optional<WeightFiles::Tensor> WeightFiles::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? std::nullopt : std::optional(found->second);
}

void WeightFiles::add_file(const std::string& path) {
  files_.push_back(std::make_unique<SafetensorsFile>(path));
  const SafetensorsFile& file = *files_.back();
  for (const TensorInfo& tensor : file.tensors()) tensors_[tensor.name] = {&file, &tensor};
}

void WeightFiles::add_shards(const std::string& folder) {
  const std::string index_path = (fs::path(folder) / kWeightIndexFile).string();
  const std::map<std::string, std::string> index = read_index(index_path);
  std::set<std::string> names;
  for (const auto& [tensor, file] : index) names.insert(file);

  base::Problems problems;
  std::map<std::string, const SafetensorsFile*> files;
  for (const std::string& name : names) {
    try {
      add_file((fs::path(folder) / name).string());
      files[name] = files_.back().get();
    } catch (const UserError& error) {
      problems.add(error.problems());
    }
  }
  problems.throw_if_any();

  // The index decides for a tensor that several files hold.
  for (const auto& [name, file_name] : index) {
    const SafetensorsFile* const file = files.at(file_name);
    const TensorInfo* const info = file->find(name);
    if (info == nullptr) {
      problems.add(fmt::format("{} says that {} is in {}, which does not hold it", kWeightIndexFile, name, file_name),
                   file->path(), "copy or download both files again");
    } else {
      tensors_[name] = {file, info};
    }
  }
  problems.throw_if_any();
}

std::vector<WeightShard> plan_weight_shards(const std::vector<TensorPlan>& tensors, std::uint64_t max_shard_bytes) {
  std::vector<WeightShard> shards;
  WeightShard open_shard;
  std::uint64_t open_bytes = 0;
  const auto close = [&] {
    if (!open_shard.tensors.empty()) shards.push_back(std::exchange(open_shard, {}));
    open_bytes = 0;
  };
  for (const TensorPlan& tensor : tensors) {
    const std::uint64_t num_bytes = tensor.num_bytes();
    if (num_bytes > max_shard_bytes) {
      shards.push_back({"", {tensor}});
      continue;
    }
    if (open_bytes + num_bytes > max_shard_bytes) close();
    open_shard.tensors.push_back(tensor);
    open_bytes += num_bytes;
  }
  close();
  for (std::size_t i = 0; i < shards.size(); ++i) {
    shards[i].file_name = shards.size() == 1 ? std::string(kSingleWeightFile)
                                             : fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
  }
  return shards;
}

std::string weight_index_json(const std::vector<WeightShard>& shards) {
  std::int64_t total_bytes = 0;
  std::int64_t total_parameters = 0;
  std::map<std::string, std::string> files;
  for (const WeightShard& shard : shards) {
    for (const TensorPlan& tensor : shard.tensors) {
      files[tensor.name] = shard.file_name;
      total_bytes += static_cast<std::int64_t>(tensor.num_bytes());
      std::int64_t elements = 1;
      for (const std::int64_t extent : tensor.shape) elements *= extent;
      total_parameters += elements;
    }
  }
  JsonValue weight_map = JsonValue::object();
  for (const auto& [tensor, file] : files) weight_map.add_member(tensor, file, {});
  JsonValue metadata = JsonValue::object();
  metadata.set("total_parameters", total_parameters);
  metadata.set("total_size", total_bytes);
  JsonValue index = JsonValue::object();
  index.set("metadata", metadata);
  index.set("weight_map", weight_map);
  return index.dump(2) + "\n";
}

}  // namespace athanor::formats
