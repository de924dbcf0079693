// All documents of a run, tokenised once and mapped from the token cache.
//
// Threads: immutable after opening. Owns: the mappings.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/parallel.h"
#include "core/config/run_config.h"
#include "core/data/document.h"
#include "core/data/token_cache.h"
#include "core/formats/tokenizer.h"

namespace athanor::data {

// A document as the cache holds it.
struct DocumentView {
  std::span<const std::int32_t> tokens;
  std::span<const std::int32_t> labels;
  DocumentKind kind = DocumentKind::kText;
  std::uint32_t line = 0;  // 1-based line (or element) in its file
  std::size_t file = 0;    // index into Dataset::files()
};

class Dataset {
 public:
  Dataset(std::vector<std::string> files, std::vector<TokenChunk> chunks, std::int64_t num_skipped_lines);

  std::int64_t num_documents() const { return first_document_.back(); }
  DocumentView document(std::int64_t index) const;
  // "file:line" for messages.
  std::string place_of(std::int64_t index) const;
  const std::vector<std::string>& files() const { return files_; }
  std::int64_t num_tokens() const;
  // Keeps the first `count` documents only.
  void limit(std::int64_t count);
  std::int64_t num_skipped_lines() const { return num_skipped_lines_; }
  // Changes with anything that changes a token: resuming compares it.
  const std::string& fingerprint() const { return fingerprint_; }
  void set_fingerprint(std::string fingerprint) { fingerprint_ = std::move(fingerprint); }

 private:
  std::vector<std::string> files_;
  std::vector<TokenChunk> chunks_;
  std::vector<std::int64_t> first_document_;  // [num_chunks + 1]
  std::int64_t num_skipped_lines_;
  std::string fingerprint_;
};

struct DatasetRequest {
  std::vector<std::string> patterns;              // files and globs
  std::string option_name = "train_file";         // the setting that named them, for messages
  const config::DataConfig* config = nullptr;     // must outlive the call
  const formats::Tokenizer* tokenizer = nullptr;  // null: only already tokenised rows
  std::int64_t vocab_size = 0;                    // of the model; ids must be below it. 0: not checked
  std::string cache_folder;                       // made if needed
  std::optional<std::int64_t> max_samples;        // the first so many documents only
};

struct DatasetProgress {
  std::uint64_t bytes_done = 0;
  std::uint64_t bytes_total = 0;
};

// `progress` may be called from several threads at once; `keep_going` is asked between chunks and may end the work (an interruption).
// Each may be empty.
struct DatasetCallbacks {
  base::ParallelFor parallel_for = base::serial_for;
  std::function<void(const DatasetProgress&)> progress = {};
  std::function<bool()> keep_going = {};
  std::function<void(const std::string&)> notice =
      {};  // a word on what a person may wonder about; on the calling thread
};
// Tokenises what the cache does not hold yet (in parallel through `parallel_for`), commits it whole, and opens it.
// Fails: UserError (no file, a bad line with file:line, ids outside the vocabulary), EnvironmentError (disk full).
// Returns no value when `keep_going` said no; nothing half done is left to be used.
std::optional<Dataset> open_dataset(const DatasetRequest& request, const DatasetCallbacks& callbacks);

}  // namespace athanor::data
