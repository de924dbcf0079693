// What a run starts from: the model's shape, its weights if they are loaded, its tokenizer, and the files that go with it. Nothing
// is read into memory here but texts.
//
// Owns:    the weights' memory maps. Fails: UserError with everything that is wrong with the folder at once.
#pragma once

#include <optional>
#include <string>

#include "core/architecture/model_folder.h"
#include "core/config/run_config.h"
#include "core/formats/tokenizer.h"
#include "engine/checkpoint/writer.h"

namespace athanor::trainer {

struct ModelInput {
  std::string path;  // the folder, or the config.json of a new model
  architecture::ModelConfig config;
  std::optional<architecture::ModelWeights> weights;  // none: initialised from the seed
  std::optional<formats::Tokenizer> tokenizer;        // none: only already tokenised data
  base::JsonValue generation_config;
  checkpoint::TextFiles companion_files;                 // tokenizer and remote code, saved with the model as they are
  formats::Dtype saved_type = formats::Dtype::kFloat32;  // of the final weights
  std::vector<std::string> notes;
};

ModelInput open_model_input(const config::RunConfig& config);

formats::Dtype dtype_of(config::Precision precision);
config::Precision precision_of(formats::Dtype dtype);

}  // namespace athanor::trainer
