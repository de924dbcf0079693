// What the worker can do: one function a command.
#pragma once

#include <string>
#include <vector>

namespace athanor::engine_program {

// Words after the command's name. Give the exit code; errors are thrown (core/base/error.h).
int run_train(const std::vector<std::string>& words);
int run_generate(const std::vector<std::string>& words);
void print_version();
// Says so and gives the exit code.
int report_out_of_memory();

}  // namespace athanor::engine_program
