// What a DeepSpeed JSON adds to, fills from, or contradicts in the arguments. Internal to resolution.
#pragma once

#include <string>

#include "core/config/deepspeed.h"
#include "core/config/run_config.h"
#include "core/config/value_reader.h"

namespace athanor::config::detail {

struct DeepSpeedMergeOptions {
  UnknownKeys unknown_keys = UnknownKeys::kRefuse;
  std::string home_folder;
};

// Reads the JSON that the argument `deepspeed` names or holds, if any, and merges it into `config`.
void merge_deepspeed(const ArgumentSet& arguments, const DeepSpeedMergeOptions& options, ValueReader& read,
                     RunConfig& config);

}  // namespace athanor::config::detail
