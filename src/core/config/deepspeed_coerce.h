// One value against one row of the schema: type, leniencies, range. Internal to deepspeed_*.cpp.
#pragma once

#include <string>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/config/field.h"

namespace athanor::config {

// How DeepSpeed checks a section: by pydantic, which takes "2" and "true" and refuses unknown keys, or by plain look-ups.
enum class Strictness { kPydantic, kLookups };

// The value in its row's type: 5e8 becomes an integer, "true" a boolean (kPydantic), a choice its canonical spelling.
// `path` is for the message. Fails: a problem without `where`.
base::Result<base::JsonValue> coerce_value(const Field& field, const std::string& path, const base::JsonValue& value,
                                           Strictness strictness);

// Does a coerced value equal the row's default?
bool equals_default(const Field& field, const base::JsonValue& value);

// The value as it is written, shortened, for messages.
std::string excerpt(const base::JsonValue& value);

}  // namespace athanor::config
