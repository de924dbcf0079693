#include "core/architecture/model_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/architecture/config_json.h"
#include "core/base/error.h"

namespace athanor::architecture {
namespace {

namespace fs = std::filesystem;
using base::JsonValue;
using base::UserError;

constexpr std::array kTokenizerFiles = {
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.json",
    "merges.txt",     "tokenizer.model",       "chat_template.jinja",     "chat_template.json"};

void require_folder(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return;
  if (fs::exists(path, ignored)) {
    throw UserError("this is a file, a model's folder is needed", path, "give the folder that holds config.json");
  }
  throw UserError("this folder does not exist", path,
                  "download the model first (huggingface-cli download NAME --local-dir FOLDER) and give its folder");
}

std::string config_path(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return path;
  std::string file = (fs::path(path) / "config.json").string();
  if (!fs::exists(file, ignored)) {
    throw UserError("this folder has no config.json", file, "give the folder of a whole model");
  }
  return file;
}

}  // namespace

ModelConfig load_model_config(const std::string& path, std::span<const std::pair<std::string, std::string>> overrides) {
  const std::string file = config_path(path);
  return parse_model_config(apply_config_overrides(base::parse_json_file(file), overrides), file);
}

std::vector<std::string> list_tokenizer_files(const std::string& folder) {
  std::vector<std::string> names;
  for (const char* name : kTokenizerFiles) {
    std::error_code ignored;
    if (fs::is_regular_file(fs::path(folder) / name, ignored)) names.emplace_back(name);
  }
  return names;
}

ModelFolder open_model_folder(const std::string& path) {
  require_folder(path);
  ModelFolder folder;
  folder.path = path;
  folder.config = load_model_config(path);
  folder.companion_files = list_tokenizer_files(path);
  const fs::path generation = fs::path(path) / "generation_config.json";
  if (fs::exists(generation)) folder.generation_config = base::parse_json_file(generation.string());
  // Remote code belongs to the model as its configuration names it.
  if (folder.config.source.find("auto_map") != nullptr) {
    std::vector<std::string> code;
    for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
      if (entry.path().extension() == ".py") code.push_back(entry.path().filename().string());
    }
    std::sort(code.begin(), code.end());
    folder.companion_files.insert(folder.companion_files.end(), code.begin(), code.end());
  }
  return folder;
}

ModelWeights open_model_weights(const ModelFolder& folder) {
  return ModelWeights(formats::WeightFiles::open(folder.path), folder.config, folder.path);
}

}  // namespace athanor::architecture
