// Reads the rotary embedding's settings out of a config.json, in transformers 4's spelling (rope_theta, rope_scaling with type or
// rope_type) or transformers 5's (rope_parameters). Internal to this library.
#pragma once

#include "core/architecture/config_fields.h"
#include "core/architecture/model_config.h"

namespace athanor::architecture {

// `max_position_embeddings` and `head_dim` are those of the model. Problems go to the fields' list.
RopeConfig parse_rope_config(const ConfigFields& fields, std::int64_t max_position_embeddings, std::int64_t head_dim);

}  // namespace athanor::architecture
