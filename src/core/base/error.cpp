#include "core/base/error.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace athanor::base {

std::string format_problem(const Problem& problem) {
  std::string text = problem.what;
  if (!problem.where.empty()) text += "\n  where: " + problem.where;
  if (!problem.remedy.empty()) text += "\n  do: " + problem.remedy;
  return text;
}

namespace {

std::string join_problems(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    if (!text.empty()) text += '\n';
    text += format_problem(problem);
  }
  return text;
}

}  // namespace

UserError::UserError(std::vector<Problem> problems)
    : Error(ExitCode::kUser, join_problems(problems)), problems_(std::move(problems)) {}

namespace {

Problem with_errno(Problem problem, int error_number) {
  if (error_number != 0) problem.what += fmt::format(": {} (errno {})", std::strerror(error_number), error_number);
  return problem;
}

}  // namespace

EnvironmentError::EnvironmentError(std::string what, std::string where, std::string remedy, int error_number)
    : Error(ExitCode::kEnvironment, format_problem(with_errno({what, where, remedy}, error_number))),
      problem_(with_errno({std::move(what), std::move(where), std::move(remedy)}, error_number)),
      error_number_(error_number) {}

NumericStop::NumericStop(std::int64_t step, Problem problem)
    : Error(ExitCode::kNumeric, format_problem(problem)), step_(step), problem_(std::move(problem)) {}

void fail_check(const char* condition, const char* file, int line, const std::string& message) {
  fmt::print(stderr, "athanor: bug: {} ({} is false at {}:{})\n", message, condition, file, line);
  std::fflush(stderr);
  std::abort();
}

}  // namespace athanor::base
