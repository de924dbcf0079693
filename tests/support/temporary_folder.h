// A fresh folder that is removed when the test ends.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "core/base/file.h"

namespace athanor::testing {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "athanor-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  // Writes a file and gives its path.
  std::string write(const std::string& name, const std::string& content) const {
    const std::string where = file(name);
    base::make_folders(std::filesystem::path(where).parent_path().string());
    base::write_scratch(where, content);
    return where;
  }

 private:
  std::string path_;
};

}  // namespace athanor::testing
