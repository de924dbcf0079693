// The error categories of the system, typed by who can act. The category is the type; text is never parsed.
//
// Exceptions are for what ends the operation; an outcome that a caller is expected to handle is a Result (result.h).
// programs/ turn a category into the process exit code; launchers and schedulers read those codes.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

namespace athanor::base {

// Process exit codes (docs/reference/exit_codes.md).
enum class ExitCode : int {
  kSuccess = 0,
  kUser = 2,         // the person can act: a flag, a file, a JSON key
  kEnvironment = 3,  // disk full, port taken, GPU lost
  kPeer = 4,         // another rank is to blame
  kNumeric = 5,      // non-finite values and a policy that says stop
  kInterrupted = 6,  // a signal, after a checkpoint was written
};

// One thing that is wrong, as a person needs it: what is wrong, where (file:line:column, path + byte, rank + parameter),
// and what to do about it (an imperative sentence with the exact key or command).
struct Problem {
  std::string what;
  std::string where;
  std::string remedy;

  bool operator==(const Problem&) const = default;
};

// "what\n  where: ...\n  do: ..."; empty parts are left out.
std::string format_problem(const Problem& problem);

class Error : public std::exception {
 public:
  const char* what() const noexcept override { return text_.c_str(); }
  ExitCode exit_code() const noexcept { return exit_code_; }

 protected:
  Error(ExitCode exit_code, std::string text) : exit_code_(exit_code), text_(std::move(text)) {}

 private:
  ExitCode exit_code_;
  std::string text_;
};

// The person can act. Holds every problem that was found, not the first only.
class UserError : public Error {
 public:
  explicit UserError(std::vector<Problem> problems);
  UserError(std::string what, std::string where, std::string remedy)
      : UserError(std::vector<Problem>{{std::move(what), std::move(where), std::move(remedy)}}) {}

  const std::vector<Problem>& problems() const noexcept { return problems_; }

 private:
  std::vector<Problem> problems_;
};

// The machine is at fault: disk, memory, device, network. `error_number` is errno or 0.
class EnvironmentError : public Error {
 public:
  EnvironmentError(std::string what, std::string where, std::string remedy, int error_number = 0);

  const Problem& problem() const noexcept { return problem_; }
  int error_number() const noexcept { return error_number_; }

 private:
  Problem problem_;
  int error_number_;
};

// Training met values it was told not to go on with. `step` is the 1-based optimizer step.
class NumericStop : public Error {
 public:
  NumericStop(std::int64_t step, Problem problem);

  const Problem& problem() const noexcept { return problem_; }
  std::int64_t step() const noexcept { return step_; }

 private:
  std::int64_t step_;
  Problem problem_;
};

// Collects problems so that all of them can be shown at once.
class Problems {
 public:
  void add(std::string what, std::string where, std::string remedy) {
    list_.push_back({std::move(what), std::move(where), std::move(remedy)});
  }
  void add(Problem problem) { list_.push_back(std::move(problem)); }
  void add(const std::vector<Problem>& more) { list_.insert(list_.end(), more.begin(), more.end()); }
  bool empty() const { return list_.empty(); }
  const std::vector<Problem>& list() const { return list_; }
  // Fails: UserError with all problems, if there are any.
  void throw_if_any() const {
    if (!list_.empty()) throw UserError(list_);
  }

 private:
  std::vector<Problem> list_;
};

[[noreturn]] void fail_check(const char* condition, const char* file, int line, const std::string& message);

}  // namespace athanor::base

// A broken invariant is a bug of ours: message, place, abort. Never reachable by user input.
#define ATHANOR_CHECK(condition, message)                                                   \
  do {                                                                                      \
    if (!(condition)) ::athanor::base::fail_check(#condition, __FILE__, __LINE__, message); \
  } while (false)
