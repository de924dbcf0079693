// expand_glob of file.h, over glob(3).
#include <glob.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/file.h"

namespace athanor::base {

std::vector<std::string> expand_glob(const std::string& pattern) {
  std::vector<std::string> paths;
  std::error_code error;
  // A file whose own name holds glob characters is itself.
  if (std::filesystem::exists(pattern, error)) {
    paths.push_back(pattern);
    return paths;
  }
  glob_t found{};
  const int status = ::glob(pattern.c_str(), GLOB_TILDE, nullptr, &found);
  if (status == GLOB_NOSPACE) {
    globfree(&found);
    throw EnvironmentError("out of memory while listing files", pattern, "name fewer files");
  }
  for (std::size_t i = 0; i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
  globfree(&found);
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace athanor::base
