// `athanor train`: judges everything that can be judged without a tensor, then becomes the engine with the same words.
#include <cstdlib>

#include "core/base/error.h"
#include "core/config/single_process.h"
#include "programs/athanor/command.h"
#include "programs/athanor/run_checks.h"

namespace athanor::command {

namespace {

[[noreturn]] void become_engine(const char* command, const std::vector<std::string>& rest) {
  std::vector<std::string> words = {command};
  words.insert(words.end(), rest.begin(), rest.end());
  exec_engine(words);
}

}  // namespace

int run_train(CommandLine line) {
  base::Problems problems;
  problems.add(config::problems_of_launch([](const char* name) { return std::getenv(name); }));
  problems.throw_if_any();
  const config::Resolution resolution = resolve_words(line.words);
  problems.add(resolution.problems);
  problems.add(config::problems_of_world_size(resolution));
  if (resolution.problems.empty()) problems.add(problems_of_schedule(resolution.config));
  problems.add(problems_of_files(resolution.config));
  problems.throw_if_any();
  become_engine("train", line.words);
}

int run_generate(CommandLine line) { become_engine("generate", line.words); }

}  // namespace athanor::command
