// The two halves of `athanor tokenize`.
#pragma once

#include "core/formats/tokenizer.h"
#include "programs/athanor/command.h"

namespace athanor::command {

// The tokenizer that --tokenizer names. Fails: UserError when the flag is missing.
formats::Tokenizer take_tokenizer(CommandLine& line);
// Fails: UserError for the first word that looks like a flag, with the nearest of `known`.
void refuse_flags(const CommandLine& line, const std::vector<std::string>& known);

// `athanor tokenize build ...` without those two words.
int run_tokenize_build(CommandLine line);

}  // namespace athanor::command
