// Every training argument that is known: Hugging Face TrainingArguments of transformers 4 and 5, what fine-tuning scripts add, and
// ours. tests/unit/core/config freezes the list: growing it is a visible change.
#pragma once

#include <vector>

#include "core/config/field.h"

namespace athanor::config {

const std::vector<Field>& training_fields();

}  // namespace athanor::config
