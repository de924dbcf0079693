// The files that training data comes from, and the pieces of them that are tokenised in parallel.
//
// Threads: SourceFile is immutable once opened.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file.h"

namespace athanor::data {

enum class SourceKind { kJsonLines, kJsonArray, kText, kIndexed };

struct SourceFile {
  std::string path;
  SourceKind kind = SourceKind::kJsonLines;
  base::MappedFile bytes;  // of .idx for kIndexed
};

// Expands globs, in the order given and sorted within a glob. `option_name` is the setting that named them.
// Fails: UserError for every pattern that matches nothing, every file whose ending is not known, every empty file.
std::vector<SourceFile> open_sources(const std::vector<std::string>& patterns, const std::string& option_name);

// A byte range of one file that begins and ends at line borders, of text files at the borders of documents; whole files for kinds that
// are not split.
struct SourceRange {
  std::size_t file = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
};
std::vector<SourceRange> split_sources(const std::vector<SourceFile>& files, std::string_view text_separator);

// Changes when a file's content does: its size, time of change, and samples of its bytes.
std::string source_fingerprint(const SourceFile& file);

}  // namespace athanor::data
