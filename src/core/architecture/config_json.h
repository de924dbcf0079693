// Changing and writing config.json: what was read is kept as it was spelt, key by key, in its order.
//
// Threads: pure functions.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "core/architecture/model_config.h"
#include "core/base/json.h"
#include "core/formats/dtype.h"

namespace athanor::architecture {

// Sets key=value pairs on top of a config.json. A value is JSON where it can be read as such (4, 1e-6, true, null), else a text;
// rope_scaling.factor reaches into an object. Fails: UserError for every key that is not a key of the supported families'
// configurations, with the nearest that is.
base::JsonValue apply_config_overrides(base::JsonValue config,
                                       std::span<const std::pair<std::string, std::string>> overrides);

// The config.json of a saved model: `config.source` with its dtype set to that of the saved weights, in the spelling it had
// (torch_dtype, or dtype where transformers 5 wrote the file), and with architectures and model_type, which loaders need.
base::JsonValue saved_config_json(const ModelConfig& config, formats::Dtype dtype);

// generation_config.json for a model that came without one.
base::JsonValue default_generation_config(const ModelConfig& config);

}  // namespace athanor::architecture
