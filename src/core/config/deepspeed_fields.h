// The schema of DeepSpeed 0.19.8 as rows of the field table.
//
// A row without child rows whose type is kObject is a section whose content is not examined. A kRefused row is refused only
// when its value switches something on: false, null, {}, {"enabled": false} and its default are accepted with a word.
#pragma once

#include <string_view>
#include <vector>

#include "core/config/field.h"

namespace athanor::config {

// Every key, parents before children. Built on the first call.
const std::vector<Field>& deepspeed_fields();

// The row of a dotted path ("zero_optimization.stage"), also under an alias of its last part; nullptr when there is none.
const Field* find_deepspeed_field(std::string_view path);

}  // namespace athanor::config
