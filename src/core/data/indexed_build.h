// Training files -> Megatron-style token files (.bin/.idx), tokenised in parallel, in the order of the files whatever the number of
// workers.
//
// Memory:  a few dozen megabytes of text at a time, or one .txt file, which is one document.
// Durable: the pair appears whole with the last step; a build that is killed leaves nothing that can be read
//          (core/formats/indexed_tokens.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/parallel.h"
#include "core/data/row_encoder.h"
#include "core/formats/indexed_tokens.h"
#include "core/formats/tokenizer.h"

namespace athanor::data {

enum class BadLines { kRefuse, kSkip };

struct IndexedBuildRequest {
  std::vector<std::string> patterns;              // files and globs: .jsonl, .json, .txt, .bin/.idx
  std::string prefix;                             // of the two files; its folder is made
  const formats::Tokenizer* tokenizer = nullptr;  // must outlive the call
  RowRules rules;
  BadLines bad_lines = BadLines::kRefuse;
};

struct IndexedBuildProgress {
  std::uint64_t bytes_done = 0;
  std::uint64_t bytes_total = 0;
  std::int64_t num_tokens = 0;
};

struct IndexedBuildCallbacks {
  base::ParallelFor parallel_for = base::serial_for;
  std::function<void(const IndexedBuildProgress&)> progress;  // on the calling thread; may be empty
};

struct IndexedBuildResult {
  std::int64_t num_documents = 0;
  std::int64_t num_tokens = 0;
  std::int64_t num_skipped_lines = 0;
  formats::TokenType type = formats::TokenType::kInt32;
};

// Fails: UserError (no file, bad lines with file:line, conversations, whose unlearnt parts these files cannot mark, another build
// at work on the same prefix), EnvironmentError (disk full).
IndexedBuildResult build_indexed_tokens(const IndexedBuildRequest& request, const IndexedBuildCallbacks& callbacks);

}  // namespace athanor::data
