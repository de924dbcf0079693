// athanor: trains, checks, explains, draws, tokenises. Loads no libtorch; what needs tensors becomes athanor-engine.
#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "core/base/error.h"
#include "core/base/fault_point.h"
#include "core/base/nearest.h"
#include "programs/athanor/command.h"
#include "programs/athanor/version.h"

namespace athanor::command {
namespace {

void print_help() {
  fmt::print(
      "athanor {}: trains DeepSeek-family models from Hugging Face arguments and DeepSpeed JSON\n\n"
      "usage: athanor COMMAND [arguments]\n\n",
      kVersion);
  for (const Command& command : commands()) fmt::print("  {:<12} {}\n", command.name, command.summary);
  fmt::print(
      "\nexamples:\n"
      "  athanor train run.yaml --learning_rate 1e-5\n"
      "  athanor train --model_name_or_path model --data_path rows.jsonl --output_dir out --deepspeed ds.json --bf16\n"
      "  athanor config show run.yaml --deepspeed ds.json --nproc_per_node 8\n"
      "  athanor explain warmup_steps\n\n"
      "athanor COMMAND --help shows a command's arguments; exit codes are in docs/reference/exit_codes.md\n");
}

void print_version() {
  const std::string engine = engine_version();
  fmt::print("athanor {} ({})\n{}\n", kVersion, kBuild,
             engine.empty() ? "athanor-engine was not found beside this program" : engine);
}

int run_command(const std::string& name, CommandLine line) {
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    names.emplace_back(command.name);
    if (name != command.name) continue;
    for (const std::string& word : line.words) {
      if (word == "--help" || word == "-h") {
        print_usage(command);
        return 0;
      }
    }
    return command.run(std::move(line));
  }
  if (name.ends_with(".yaml") || name.ends_with(".yml")) {
    throw base::UserError(fmt::format("{} is no command", name), "the command line",
                          fmt::format("write `athanor train {}`", name));
  }
  const std::optional<std::string> nearest = base::nearest_name(name, names);
  throw base::UserError(fmt::format("there is no command {}", name), "the command line",
                        nearest.has_value() ? fmt::format("did you mean `athanor {}`?", *nearest)
                                            : "see `athanor --help` for the commands");
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 2 && words[0] == "help") return run_command(words[1], CommandLine{{"--help"}});
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    print_help();
    return 0;
  }
  if (words[0] == "--version" || words[0] == "-V" || words[0] == "version") {
    print_version();
    return 0;
  }
  return run_command(words[0], CommandLine{{words.begin() + 1, words.end()}});
}

}  // namespace
}  // namespace athanor::command

int main(int argc, char** argv) {
  // A closed pipe (`athanor ... | head`) ends the program quietly.
  std::signal(SIGPIPE, SIG_DFL);
  try {
    const char* faults = std::getenv("ATHANOR_FAULT");
    athanor::base::arm_fault_points(faults == nullptr ? "" : faults);
    const int exit_code = athanor::command::run({argv + 1, argv + argc});
    if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category());
    return exit_code;
  } catch (const athanor::base::Error& error) {
    std::fflush(stdout);
    fmt::print(stderr, "athanor: {}\n", error.what());
    return static_cast<int>(error.exit_code());
  } catch (const std::system_error& error) {
    fmt::print(stderr, "athanor: standard output cannot be written: {}\n", error.code().message());
    return static_cast<int>(athanor::base::ExitCode::kEnvironment);
  }
}
