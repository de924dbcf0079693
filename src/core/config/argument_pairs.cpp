#include "core/config/argument_pairs.h"

#include <fmt/format.h>

#include <sstream>

namespace athanor::config::detail {

std::vector<std::pair<std::string, std::string>> read_pairs(ValueReader& read, const std::string& name) {
  std::vector<std::pair<std::string, std::string>> pairs;
  std::istringstream entries(read.text(name));
  for (std::string entry; std::getline(entries, entry, ',');) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) {
      read.problem(fmt::format("{} must be key=value pairs, not {}", name, entry), read.where(name),
                   "write key=value,key=value");
      return {};
    }
    pairs.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return pairs;
}

}  // namespace athanor::config::detail
