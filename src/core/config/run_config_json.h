// RunConfig <-> JSON: what a run folder keeps, so that a run can be read back as it was resolved.
//
// Format: one object per section, members under their C++ names, enumerations by name, absent optional values as null. Every member is
//         written, and every member must be there when read: a file of another version is refused, never filled in.
// Threads: pure.
#pragma once

#include <string>

#include "core/base/json.h"
#include "core/config/run_config.h"

namespace athanor::config {

base::JsonValue run_config_to_json(const RunConfig& config);

// `name` is the file, for messages. Fails: UserError with every missing, unknown or mistyped member.
RunConfig run_config_from_json(const base::JsonValue& json, const std::string& name);

}  // namespace athanor::config
