#include "core/data/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/data/text_documents.h"

namespace athanor::data {

namespace {

namespace fs = std::filesystem;

// Small enough that a few cores share a small file, large enough that a chunk's fixed cost does not show.
constexpr std::size_t kRangeBytes = 4 << 20;
constexpr std::size_t kSampleBytes = 64 << 10;

std::string lower_extension(const std::string& path) {
  std::string extension = fs::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return extension;
}

std::optional<SourceKind> kind_of(const std::string& path) {
  const std::string extension = lower_extension(path);
  if (extension == ".jsonl" || extension == ".ndjson" || extension == ".json") return SourceKind::kJsonLines;
  if (extension == ".txt" || extension == ".text" || extension == ".md") return SourceKind::kText;
  if (extension == ".bin" || extension == ".idx") return SourceKind::kIndexed;
  return std::nullopt;
}

bool is_json_array(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return first != std::string_view::npos && text[first] == '[';
}

std::string with_extension(const std::string& path, const char* extension) {
  return fs::path(path).replace_extension(extension).string();
}

void open_source(const std::string& path, std::vector<SourceFile>& files, base::Problems& problems) {
  const std::optional<SourceKind> kind = kind_of(path);
  if (!kind.has_value()) {
    problems.add("this kind of file is not known by its ending", path,
                 "give .jsonl, .json, .txt, or .bin with .idx beside it");
    return;
  }
  SourceFile file;
  file.kind = *kind;
  file.path = *kind == SourceKind::kIndexed ? with_extension(path, ".idx") : path;
  try {
    file.bytes = base::MappedFile(file.path);
  } catch (const base::UserError& error) {
    problems.add(error.problems());
    return;
  }
  if (file.bytes.size() == 0) {
    problems.add("the file is empty", file.path, "give a file with at least one row");
    return;
  }
  if (file.kind == SourceKind::kJsonLines && is_json_array(file.bytes.text())) file.kind = SourceKind::kJsonArray;
  files.push_back(std::move(file));
}

}  // namespace

std::vector<SourceFile> open_sources(const std::vector<std::string>& patterns, const std::string& option_name) {
  base::Problems problems;
  std::vector<SourceFile> files;
  for (const std::string& pattern : patterns) {
    const std::vector<std::string> paths = base::expand_glob(pattern);
    if (paths.empty()) {
      problems.add(fmt::format("no file matches {}", pattern), option_name,
                   "give the path of an existing file or a glob");
    }
    for (const std::string& path : paths) open_source(path, files, problems);
  }
  problems.throw_if_any();
  return files;
}

std::vector<SourceRange> split_sources(const std::vector<SourceFile>& files, std::string_view text_separator) {
  std::vector<SourceRange> ranges;
  for (std::size_t file = 0; file < files.size(); ++file) {
    const std::string_view text = files[file].bytes.text();
    const bool is_text = files[file].kind == SourceKind::kText && !text_separator.empty();
    if (files[file].kind != SourceKind::kJsonLines && !is_text) {
      ranges.push_back({file, 0, text.size()});
      continue;
    }
    for (std::size_t begin = 0; begin < text.size();) {
      std::size_t end = std::min(text.size(), begin + kRangeBytes);
      if (is_text) {
        end = next_document_border(text, end, text_separator);
      } else if (end < text.size()) {
        const std::size_t newline = text.find('\n', end);
        end = newline == std::string_view::npos ? text.size() : newline + 1;
      }
      ranges.push_back({file, begin, end});
      begin = end;
    }
  }
  return ranges;
}

namespace {

void add_state(base::ContentHash& hash, const std::string& path) {
  std::error_code error;
  const auto changed = fs::last_write_time(path, error);
  hash.add(static_cast<std::uint64_t>(error ? 0 : changed.time_since_epoch().count()));
  const std::uintmax_t size = fs::file_size(path, error);
  hash.add(static_cast<std::uint64_t>(error ? 0 : size));
}

}  // namespace

std::string source_fingerprint(const SourceFile& file) {
  const std::string_view text = file.bytes.text();
  base::ContentHash hash;
  hash.add(static_cast<std::uint64_t>(file.kind));
  add_state(hash, file.path);
  if (file.kind == SourceKind::kIndexed) add_state(hash, with_extension(file.path, ".bin"));
  hash.add(text.substr(0, kSampleBytes));
  hash.add(text.substr(text.size() / 2, kSampleBytes));
  hash.add(text.substr(text.size() - std::min(text.size(), kSampleBytes)));
  return hash.hex();
}

}  // namespace athanor::data
