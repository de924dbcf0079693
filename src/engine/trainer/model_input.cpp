#include "engine/trainer/model_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/architecture/config_json.h"
#include "core/base/error.h"
#include "core/base/file.h"

namespace athanor::trainer {

namespace {

namespace fs = std::filesystem;

// The folder that a path names or lies in.
std::string folder_of(const std::string& path) {
  if (fs::is_directory(path)) return path;
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? fs::current_path().string() : parent.string();
}

checkpoint::TextFiles read_files(const std::string& folder, const std::vector<std::string>& names) {
  checkpoint::TextFiles files;
  for (const std::string& name : names) files.emplace_back(name, base::read_file(folder + "/" + name));
  return files;
}

bool is_tokenizer_file(const std::string& folder, const std::string& name) {
  const std::vector<std::string> names = architecture::list_tokenizer_files(folder);
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Where the tokenizer is: named, or beside the model when there is one.
std::string tokenizer_path(const config::ModelSource& source, const std::string& model_folder) {
  if (!source.tokenizer_name.empty()) return source.tokenizer_name;
  return fs::exists(model_folder + "/tokenizer.json") ? model_folder : "";
}

void add_tokenizer(ModelInput& input, const config::ModelSource& source, const std::string& model_folder) {
  const std::string path = tokenizer_path(source, model_folder);
  if (path.empty()) return;
  input.tokenizer = formats::Tokenizer::load(path);
  input.notes.insert(input.notes.end(), input.tokenizer->notes().begin(), input.tokenizer->notes().end());
  if (input.tokenizer->vocab_size() > input.config.vocab_size) {
    throw base::UserError(fmt::format("the tokenizer has {} tokens, the model's vocabulary {}",
                                      input.tokenizer->vocab_size(), input.config.vocab_size),
                          path, "use the model's own tokenizer, or a model with vocab_size at least that");
  }
  if (source.tokenizer_name.empty()) return;
  // Another tokenizer than the model came with: its files take the place of the model's.
  std::erase_if(input.companion_files, [&](const auto& file) { return is_tokenizer_file(model_folder, file.first); });
  for (auto& file : input.tokenizer->files()) input.companion_files.push_back(std::move(file));
}

formats::Dtype as_loaded(const ModelInput& input) {
  if (input.weights) return input.weights->prevalent_dtype();
  return formats::find_torch_dtype(input.config.dtype).value_or(formats::Dtype::kFloat32);
}

}  // namespace

ModelInput open_model_input(const config::RunConfig& config) {
  const config::ModelSource& source = config.model;
  ModelInput input;
  std::string folder;
  if (source.from_scratch) {
    input.path = source.config_name.empty() ? source.model_name_or_path : source.config_name;
    input.config = architecture::load_model_config(input.path, source.config_overrides);
    folder = folder_of(input.path);
    input.companion_files = read_files(folder, architecture::list_tokenizer_files(folder));
    input.generation_config = architecture::default_generation_config(input.config);
  } else {
    const architecture::ModelFolder model = architecture::open_model_folder(source.model_name_or_path);
    input.path = folder = model.path;
    input.config = model.config;
    input.weights = architecture::open_model_weights(model);
    input.notes = input.weights->notes();
    input.companion_files = read_files(folder, model.companion_files);
    input.generation_config =
        model.generation_config ? *model.generation_config : architecture::default_generation_config(model.config);
  }
  add_tokenizer(input, source, folder);
  input.saved_type =
      config.checkpoint.saved_precision_as_loaded ? as_loaded(input) : dtype_of(config.checkpoint.saved_precision);
  return input;
}

formats::Dtype dtype_of(config::Precision precision) {
  if (precision == config::Precision::kBfloat16) return formats::Dtype::kBfloat16;
  return precision == config::Precision::kFloat16 ? formats::Dtype::kFloat16 : formats::Dtype::kFloat32;
}

config::Precision precision_of(formats::Dtype dtype) {
  if (dtype == formats::Dtype::kBfloat16) return config::Precision::kBfloat16;
  return dtype == formats::Dtype::kFloat16 ? config::Precision::kFloat16 : config::Precision::kFloat32;
}

}  // namespace athanor::trainer
