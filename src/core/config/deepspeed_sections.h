// The sections whose members depend on a type beside them, the rules between keys, and the way from checked values to
// DeepSpeedConfig. Internal to deepspeed_*.cpp.
#pragma once

#include <optional>

#include "core/base/json.h"
#include "core/config/deepspeed.h"
#include "core/config/deepspeed_schema.h"

namespace athanor::config {

// Each checks the parameters of its section against the type; nothing when the section is absent or its type is refused.
std::optional<DeepSpeedOptimizer> read_optimizer(SchemaCheck& check);
std::optional<DeepSpeedSchedule> read_schedule(SchemaCheck& check);

// Older spellings become what they stand for. Before bind_config.
void map_older_spellings(SchemaCheck& check);
// Combinations that DeepSpeed refuses, and values that are known but not done here.
void check_rules(SchemaCheck& check);

DeepSpeedConfig bind_config(const SchemaCheck& check);

// A setting out of a checked value; absent when the key is.
Setting<bool> bool_setting(const SchemaCheck& check, const std::string& path);
Setting<std::int64_t> integer_setting(const SchemaCheck& check, const std::string& path);
Setting<double> number_setting(const SchemaCheck& check, const std::string& path);
Setting<std::string> text_setting(const SchemaCheck& check, const std::string& path);

}  // namespace athanor::config
