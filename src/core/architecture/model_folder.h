// A model as Hugging Face's libraries keep it: a folder with config.json, safetensors and the tokenizer's files.
//
// Format:  docs/formats/model_folder.md. Threads: immutable after opening.
// Fails:   UserError with everything that is wrong at once.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/architecture/model_config.h"
#include "core/base/json.h"
#include "core/formats/weight_files.h"

namespace athanor::architecture {

// The shape alone, for training from scratch. `path`: a config.json, or a folder that holds one.
ModelConfig load_model_config(const std::string& path,
                              std::span<const std::pair<std::string, std::string>> overrides = {});

struct ModelFolder {
  std::string path;
  ModelConfig config;
  std::optional<base::JsonValue> generation_config;  // generation_config.json as read
  std::vector<std::string> companion_files;          // names in the folder, copied unchanged to a saved model
};

ModelFolder open_model_folder(const std::string& path);

// Names of the tokenizer's files in a folder: what a saved model needs beside config.json and weights.
std::vector<std::string> list_tokenizer_files(const std::string& folder);

// A model's weights, checked against its parameter list without reading a tensor: nothing missing, nothing extra, every shape
// right, every type one of F32, BF16, F16 (types may differ from tensor to tensor). With tied embeddings lm_head.weight may be
// there or not, and may stand in for the embedding. Values, non-finite ones too, are not looked at.
class ModelWeights {
 public:
  // Fails: UserError listing every missing, extra, misshapen or wrongly typed tensor.
  ModelWeights(formats::WeightFiles files, const ModelConfig& config, const std::string& path);

  // The tensor of one of list_units()'s parameters.
  formats::WeightFiles::Tensor tensor(std::string_view parameter) const;
  // Sentences about tensors that are in the files and not needed.
  const std::vector<std::string>& notes() const { return notes_; }
  // The element type that holds the most elements: what a model saved "as it was loaded" is written in.
  formats::Dtype prevalent_dtype() const { return prevalent_dtype_; }

 private:
  void check_head_copy(const ModelConfig& config, base::Problems& problems);

  formats::WeightFiles files_;
  std::string path_;
  std::vector<std::string> notes_;
  bool embedding_from_head_ = false;
  formats::Dtype prevalent_dtype_ = formats::Dtype::kFloat32;
};

ModelWeights open_model_weights(const ModelFolder& folder);

}  // namespace athanor::architecture
