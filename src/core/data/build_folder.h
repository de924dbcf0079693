// The folder that a token cache is built in, beside the place it will have: locked by its builder, renamed into place when whole,
// removed when it is not.
//
// Durable: published files survive a power cut. A builder that is killed leaves a folder that the next one removes.
// Threads: externally synchronised; files may be written into path() from several threads.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/base/file.h"

namespace athanor::data {

class BuildFolder {
 public:
  // Fails: EnvironmentError when it cannot be made beside `target`.
  explicit BuildFolder(const std::string& target);
  ~BuildFolder();
  BuildFolder(const BuildFolder&) = delete;
  BuildFolder& operator=(const BuildFolder&) = delete;

  // Where the files go.
  const std::string& path() const { return files_; }
  // Syncs the folder and gives it its name. When another builder was faster and `target_is_whole` says so, its files stay and these
  // go; what is at the target and not whole goes. Fails: EnvironmentError.
  void publish(const std::function<bool()>& target_is_whole);

 private:
  std::string target_;
  std::string folder_;  // holds the lock and files_
  std::string files_;
  std::optional<base::FileLock> lock_;
};

// Removes what dead builders left in `cache_folder`. Folders that are being built are let alone.
void remove_abandoned_builds(const std::string& cache_folder);

}  // namespace athanor::data
