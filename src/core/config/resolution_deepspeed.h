// What a DeepSpeed JSON adds to, fills from, or contradicts in the arguments. Internal to resolution.
#pragma once

#include "core/config/deepspeed.h"
#include "core/config/run_config.h"
#include "core/config/value_reader.h"

namespace athanor::config::detail {

// Reads the JSON that the argument `deepspeed` names, if any, and merges it into `config`.
void merge_deepspeed(const ArgumentSet& arguments, UnknownKeys unknown, ValueReader& read, RunConfig& config);

}  // namespace athanor::config::detail
