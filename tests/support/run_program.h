// Starts one of the built programs as a user would and gives back what it printed and how it ended.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace athanor::testing {

struct ProgramOutcome {
  int exit_code = -1;  // -1 when a signal ended it
  int end_signal = 0;  // the signal, or 0
  bool timed_out = false;
  std::string out;
  std::string err;
};

struct ProgramOptions {
  std::vector<std::pair<std::string, std::string>> environment;  // added to ours
  std::string folder;                                            // working folder; empty: ours
  std::chrono::seconds timeout{120};
};

// A started program. Destruction kills it if it still runs.
class RunningProgram {
 public:
  RunningProgram(const std::vector<std::string>& command, const ProgramOptions& options = {});
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  pid_t pid() const { return pid_; }
  void send_signal(int number) const { ::kill(pid_, number); }
  // Reads until standard output or error holds `text`; false when the program ended or the time was over before.
  bool wait_for_text(const std::string& text);
  // Reads to the end and reaps.
  ProgramOutcome finish();

 private:
  bool read_some();  // false at the end of both streams or when the time is over

  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  bool reaped_ = false;
  std::chrono::steady_clock::time_point deadline_;
  ProgramOutcome outcome_;
};

inline RunningProgram::RunningProgram(const std::vector<std::string>& command, const ProgramOptions& options)
    : deadline_(std::chrono::steady_clock::now() + options.timeout) {
  int out[2], err[2];
  if (::pipe(out) != 0 || ::pipe(err) != 0) throw std::runtime_error("no pipe");
  pid_ = ::fork();
  if (pid_ == 0) {
    if (!options.folder.empty() && ::chdir(options.folder.c_str()) != 0) ::_exit(126);
    const int null = ::open("/dev/null", O_RDONLY);
    ::dup2(null, 0);
    ::dup2(out[1], 1);
    ::dup2(err[1], 2);
    for (const int descriptor : {out[0], out[1], err[0], err[1]}) ::close(descriptor);
    for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(out[1]);
  ::close(err[1]);
  out_ = out[0];
  err_ = err[0];
}

inline RunningProgram::~RunningProgram() {
  if (!reaped_) {
    ::kill(pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
  }
  if (out_ >= 0) ::close(out_);
  if (err_ >= 0) ::close(err_);
}

inline bool RunningProgram::read_some() {
  pollfd waiting[2] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - std::chrono::steady_clock::now());
  if (left.count() <= 0) {
    outcome_.timed_out = true;
    return false;
  }
  if (out_ < 0 && err_ < 0) return false;
  ::poll(waiting, 2, static_cast<int>(left.count()));
  for (int i = 0; i < 2; ++i) {
    if (waiting[i].revents == 0) continue;
    char buffer[65536];
    int& descriptor = i == 0 ? out_ : err_;
    const ssize_t got = ::read(descriptor, buffer, sizeof buffer);
    if (got > 0) {
      (i == 0 ? outcome_.out : outcome_.err).append(buffer, static_cast<std::size_t>(got));
    } else {
      ::close(std::exchange(descriptor, -1));
    }
  }
  return true;
}

inline bool RunningProgram::wait_for_text(const std::string& text) {
  while (true) {
    if (outcome_.out.find(text) != std::string::npos || outcome_.err.find(text) != std::string::npos) return true;
    if (!read_some()) return false;
  }
}

inline ProgramOutcome RunningProgram::finish() {
  while (read_some()) {
  }
  if (outcome_.timed_out) ::kill(pid_, SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  reaped_ = true;
  if (WIFEXITED(status)) outcome_.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome_.end_signal = WTERMSIG(status);
  return outcome_;
}

inline ProgramOutcome run_program(const std::vector<std::string>& command, const ProgramOptions& options = {}) {
  return RunningProgram(command, options).finish();
}

}  // namespace athanor::testing
