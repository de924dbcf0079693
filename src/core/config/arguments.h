// What a person gave, before anything is decided: flags and run file, each value with the place it came from.
//
// Spelling: --name value, --name=value, --name alone for a switch, --no_name to turn one off; dashes or underscores; several
//           values after a list flag. The run file is YAML as people write it (1e-5 is a number, yes/no/on/off are switches) or
//           JSON. Flags win.
// Threads:  pure functions; read_arguments reads one file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/config/field.h"

namespace athanor::config {

// One value as given. Scalars are text; an object (lr_scheduler_kwargs, an inline DeepSpeed configuration) is JSON whose values
// know their place in the run file.
struct Argument {
  std::string name;     // canonical
  std::string written;  // the name as it was spelt, with underscores
  std::vector<std::string> texts;
  std::optional<base::JsonValue> object;
  std::string where;                // "--learning_rate", "run.yaml:3:1"
  std::optional<std::string> beat;  // "run.yaml:3:1 (1e-4)": what this value overrode

  bool is_flag() const { return where.starts_with("--"); }
  std::string place() const { return is_flag() ? "flag " + where : where; }
};

// The value as a person would write it.
std::string shown(const Argument& argument);

struct ArgumentSet {
  std::vector<Argument> arguments;
  std::string run_file;  // path, or empty
  std::vector<base::Problem> problems;
  std::vector<std::string> notes;

  const Argument* find(const std::string& name) const;
};

// `words` is the command line after the command's name. A word that is no flag and ends in .yaml, .yml or .json is the run file.
// Nothing is thrown for what is wrong: it is in `problems`. --allow_unknown_keys among the words turns unknown names into notes.
ArgumentSet read_arguments(const std::vector<std::string>& words);

// The row of a name or one of its aliases in training_fields(); nullptr if unknown.
const Field* find_training_field(const std::string& name);

// "true/false/yes/no/on/off/1/0", any case.
std::optional<bool> parse_switch(const std::string& text);

}  // namespace athanor::config
