// How `athanor` becomes `athanor-engine`: by exec, so that signals, exit code and terminal are the engine's own.
#include <errno.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "core/base/error.h"
#include "programs/athanor/command.h"

namespace athanor::command {

namespace {

std::string engine_path() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return (self.parent_path() / "athanor-engine").string();
}

}  // namespace

void exec_engine(const std::vector<std::string>& words) {
  const std::string path = engine_path();
  std::vector<char*> arguments = {const_cast<char*>(path.c_str())};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  ::execv(path.c_str(), arguments.data());
  throw base::EnvironmentError("the training engine cannot be started", path,
                               "build the target athanor_programs_athanor_engine (scripts/quickstart does)", errno);
}

std::string engine_version() {
  const std::string path = engine_path();
  if (::access(path.c_str(), X_OK) != 0) return "";
  std::string text;
  std::FILE* pipe = ::popen(("'" + path + "' --version 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return "";
  std::array<char, 256> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) text += buffer.data();
  ::pclose(pipe);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace athanor::command
