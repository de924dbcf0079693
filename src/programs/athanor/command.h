// The commands of `athanor`: one file each, one row each in commands.cpp.
#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/config/resolution.h"

namespace athanor::command {

// What stands after the command's name.
struct CommandLine {
  std::vector<std::string> words;

  // True (and removed) when `flag` is among the words.
  bool take_switch(const std::string& flag);
  // The value of `--flag value` or `--flag=value`, removed; empty when absent. Fails: UserError when the value is missing.
  std::string take_value(const std::string& flag);
};

struct Command {
  const char* name;
  const char* summary;           // one line
  const char* usage;             // fits a screen, with examples
  int (*run)(CommandLine line);  // gives the exit code; errors are thrown (core/base/error.h)
};

const std::vector<Command>& commands();
// Prints the command's usage.
void print_usage(const Command& command);

int run_train(CommandLine line);
int run_config(CommandLine line);
int run_explain(CommandLine line);
int run_lr(CommandLine line);
int run_tokenize(CommandLine line);
int run_generate(CommandLine line);
int run_completion(CommandLine line);

// Flags and run file, resolved; a leading ~ in paths is the person's home.
config::Resolution resolve_words(const std::vector<std::string>& words);
// What is wrong with a configuration that is only looked at: model, data and output need not be known yet.
std::vector<base::Problem> problems_of_settings(const config::Resolution& resolution);

// Becomes athanor-engine (beside this binary) with `words`; returns only by throwing.
[[noreturn]] void exec_engine(const std::vector<std::string>& words);
// "libtorch 2.15.0, cpu": what `athanor-engine --version` says; "" when there is no engine.
std::string engine_version();

}  // namespace athanor::command
