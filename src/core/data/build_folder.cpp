#include "core/data/build_folder.h"

#include <errno.h>
#include <stdlib.h>

#include <filesystem>

#include "core/base/error.h"

namespace athanor::data {

namespace {

namespace fs = std::filesystem;

// A folder is locked before it gets the name by which others look for abandoned ones.
constexpr const char* kStartingMark = ".starting-";
constexpr const char* kBuildingMark = ".building-";
// Each try but the first follows another builder that came or went in between.
constexpr int kMostTries = 4;

[[noreturn]] void fail_making(const std::string& where, int error_number) {
  throw base::EnvironmentError("the token cache cannot be made here", where,
                               "free some space, or name another folder with --cache_dir", error_number);
}

}  // namespace

BuildFolder::BuildFolder(const std::string& target) : target_(target) {
  std::string starting = target + kStartingMark + "XXXXXX";
  if (::mkdtemp(starting.data()) == nullptr) fail_making(target, errno);
  lock_ = base::FileLock::try_lock(starting + "/lock");
  folder_ = target + kBuildingMark + starting.substr(starting.size() - 6);
  files_ = folder_ + "/tokens";
  std::error_code error;
  fs::rename(starting, folder_, error);
  if (!error) fs::create_directory(files_, error);
  if (error) fail_making(target, error.value());
}

BuildFolder::~BuildFolder() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void BuildFolder::publish(const std::function<bool()>& target_is_whole) {
  base::sync_folder(files_);
  std::error_code error;
  for (int attempt = 0; attempt < kMostTries; ++attempt) {
    fs::rename(files_, target_, error);
    if (!error) {
      base::sync_folder(fs::path(target_).parent_path().string());
      return;
    }
    if (target_is_whole()) return;
    std::error_code gone;
    fs::rename(target_, folder_ + "/torn-" + std::to_string(attempt), gone);
  }
  fail_making(target_, error.value());
}

void remove_abandoned_builds(const std::string& cache_folder) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(cache_folder, ignored)) {
    if (entry.path().filename().string().find(kBuildingMark) == std::string::npos) continue;
    try {
      const base::FileLock lock = base::FileLock::try_lock((entry.path() / "lock").string());
      if (lock.held()) fs::remove_all(entry.path(), ignored);
    } catch (const base::Error&) {
      // Another user's, or removed by its builder in this moment.
    }
  }
}

}  // namespace athanor::data
