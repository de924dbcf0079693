// From what a person gave (arguments.h) and a DeepSpeed JSON (deepspeed.h) to the one RunConfig, with the origin of every value.
//
// Source:  transformers 5.23 (TrainingArguments, HfTrainerDeepSpeedConfig) for defaults, "auto" and mismatches. Deviation: a value
//          of the JSON that disagrees with a default that nobody set is taken, and said; transformers stops.
// Order:   default < run file < flag; the DeepSpeed JSON fills or must agree with what was given.
// Threads: pure, but for reading the DeepSpeed file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/config/arguments.h"
#include "core/config/run_config.h"

namespace athanor::config {

struct ResolvedValue {
  std::string
      name;  // an argument, a dotted DeepSpeed key, or something that follows from them (precision, train_batch_size)
  std::string value;   // as a person would write it
  std::string origin;  // "flag --seed", "run.yaml:3:1", "ds.json:4:7", "default", "auto: ..."
  std::string beat;    // what it overrode, or ""
};

struct Resolution {
  RunConfig config;
  std::vector<ResolvedValue> values;
  std::vector<std::string> notes;       // to be said once
  std::vector<base::Problem> problems;  // every one; config is whole only when there are none
};

struct ResolveOptions {
  std::optional<std::int64_t> world_size = {};  // empty: nproc_per_node
  std::string home_folder = {};                 // what a leading ~ in paths stands for; empty: nothing
};

Resolution resolve(const ArgumentSet& arguments, const ResolveOptions& options = {});

// The table of `config show`, one object per value.
base::JsonValue resolution_to_json(const Resolution& resolution);

}  // namespace athanor::config
