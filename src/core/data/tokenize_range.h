// One piece of one training file -> documents and the lines that could not be read. The unit of parallel work.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/data/row_encoder.h"
#include "core/data/source.h"
#include "core/data/token_cache.h"

namespace athanor::data {

struct BadLine {
  std::uint32_t line = 0;  // 1-based
  std::string what;
};

inline constexpr std::size_t kMostBadLinesKept = 20;

struct TokenizedRange {
  ChunkBuilder chunk;
  std::vector<BadLine> bad_lines;  // the first kMostBadLinesKept
  std::int64_t num_bad_lines = 0;

  void add_bad_line(std::uint32_t line, std::string what) {
    if (num_bad_lines++ < static_cast<std::int64_t>(kMostBadLinesKept)) bad_lines.push_back({line, std::move(what)});
  }
};

// `first_line` is the 1-based line that the range begins with.
TokenizedRange tokenize_range(const SourceFile& file, const SourceRange& range, std::uint32_t first_line,
                              const formats::Tokenizer* tokenizer, const RowRules& rules);

}  // namespace athanor::data
