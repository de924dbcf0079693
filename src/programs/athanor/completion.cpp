// `athanor completion`: scripts made from the command and field tables.
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/config/argument_fields.h"
#include "programs/athanor/command.h"

namespace athanor::command {

namespace {

std::string command_names() {
  std::string names;
  for (const Command& command : commands()) names += std::string(names.empty() ? "" : " ") + command.name;
  return names;
}

std::string flag_names() {
  std::string names;
  for (const config::Field& field : config::training_fields()) {
    if (field.support == config::Support::kHonoured) names += (names.empty() ? "--" : " --") + field.name;
  }
  return names;
}

constexpr const char* kBash = R"(_athanor() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} command=${{COMP_WORDS[1]}}
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{commands} --help --version" -- "$word"))
  elif [ "$command" = config ] && [ "$COMP_CWORD" -eq 2 ]; then
    COMPREPLY=($(compgen -W "show check" -- "$word"))
  elif [ "$command" = completion ]; then
    COMPREPLY=($(compgen -W "bash zsh" -- "$word"))
  elif [[ "$word" == -* ]]; then
    COMPREPLY=($(compgen -W "{flags} --help" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}}
complete -o filenames -F _athanor athanor
)";

constexpr const char* kZsh = R"(#compdef athanor
_athanor() {{
  local -a commands flags
  commands=({commands})
  flags=({flags} --help)
  if (( CURRENT == 2 )); then
    compadd -- $commands --help --version
  elif [[ $words[2] == config && CURRENT -eq 3 ]]; then
    compadd -- show check
  elif [[ $words[2] == completion ]]; then
    compadd -- bash zsh
  elif [[ $words[CURRENT] == -* ]]; then
    compadd -- $flags
  else
    _files
  fi
}}
compdef _athanor athanor
)";

}  // namespace

int run_completion(CommandLine line) {
  const std::string shell = line.words.empty() ? "" : line.words.front();
  if (shell != "bash" && shell != "zsh") {
    throw base::UserError("completion needs the name of a shell", "the command line",
                          "write `athanor completion bash` or `athanor completion zsh`");
  }
  fmt::print(fmt::runtime(shell == "bash" ? kBash : kZsh), fmt::arg("commands", command_names()),
             fmt::arg("flags", flag_names()));
  return 0;
}

}  // namespace athanor::command
