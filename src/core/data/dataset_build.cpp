// open_dataset(): find the cache folder that fits, or build it: tokenise every range, commit the folder whole, open it.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <numeric>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/data/build_folder.h"
#include "core/data/dataset.h"
#include "core/data/source.h"
#include "core/data/tokenize_range.h"

namespace athanor::data {

namespace {

namespace fs = std::filesystem;

// Raised when the meaning of a cached token changes.
constexpr std::uint64_t kRulesVersion = 3;
constexpr std::size_t kMostBadLinesShown = kMostBadLinesKept;
// Up to this size a cache is read whole when it is opened, to check it (some 0.1 s); beyond, its tables are.
constexpr std::uint64_t kMostBytesReadToCheck = 256 << 20;
// Another builder may take a torn folder away between building and opening.
constexpr int kMostBuilds = 2;

RowRules make_rules(const DatasetRequest& request) {
  const config::DataConfig& config = *request.config;
  RowRules rules;
  rules.text_column = config.text_column;
  rules.text_separator = config.text_separator;
  if (!config.chat_template.empty()) rules.chat_template = chat_template_by_name(config.chat_template);
  rules.learnt = config.train_on_prompt ? LearntPart::kEverything : LearntPart::kResponses;
  rules.bos = config.add_bos ? EdgeToken::kOnce : EdgeToken::kNone;
  rules.eos = config.add_eos ? EdgeToken::kOnce : EdgeToken::kNone;
  rules.vocab_size = request.vocab_size;
  if (rules.chat_template.has_value() && request.tokenizer != nullptr) {
    const std::vector<std::string> missing = missing_markers(*rules.chat_template, *request.tokenizer);
    if (!missing.empty()) {
      throw base::UserError(
          fmt::format("the tokenizer has no token {}, which {} needs", missing.front(), config.chat_template),
          "chat_template", "use the tokenizer of that model, or another chat_template (plain needs none)");
    }
  }
  return rules;
}

void check_vocabulary(const DatasetRequest& request) {
  if (request.tokenizer == nullptr || request.vocab_size == 0) return;
  if (request.tokenizer->vocab_size() <= request.vocab_size) return;
  throw base::UserError(fmt::format("the tokenizer has ids up to {}, the model's vocab_size is {}",
                                    request.tokenizer->vocab_size() - 1, request.vocab_size),
                        "tokenizer_name",
                        fmt::format("use the model's own tokenizer, or a model with vocab_size of at least {}",
                                    request.tokenizer->vocab_size()));
}

std::string cache_key(const DatasetRequest& request, const RowRules& rules, const std::vector<SourceFile>& files) {
  base::ContentHash hash;
  hash.add(kRulesVersion);
  hash.add(request.tokenizer != nullptr ? std::string_view(request.tokenizer->fingerprint())
                                        : std::string_view("none"));
  hash.add(rules.text_column);
  hash.add(rules.text_separator);
  hash.add(rules.chat_template.has_value() ? static_cast<std::uint64_t>(*rules.chat_template) + 1 : 0);
  hash.add(static_cast<std::uint64_t>(rules.learnt));
  hash.add(static_cast<std::uint64_t>(rules.bos));
  hash.add(static_cast<std::uint64_t>(rules.eos));
  hash.add(static_cast<std::uint64_t>(request.config->skip_bad_lines));
  // Which lines are left out depends on the vocabulary; without skipping, a cache has none that is wrong.
  hash.add(static_cast<std::uint64_t>(request.config->skip_bad_lines ? rules.vocab_size : 0));
  for (const SourceFile& file : files) hash.add(source_fingerprint(file));
  return hash.hex();
}

std::vector<std::string> paths_of(const std::vector<SourceFile>& files) {
  std::vector<std::string> paths;
  for (const SourceFile& file : files) paths.push_back(file.path);
  return paths;
}

std::optional<Dataset> open_cached(const std::string& folder, const std::vector<SourceFile>& files,
                                   const base::ParallelFor& parallel_for) {
  const std::optional<CacheIndex> index = read_cache_index(folder);
  if (!index.has_value()) return std::nullopt;
  std::uint64_t num_bytes = 0;
  for (const CacheIndex::Chunk& entry : index->chunks) num_bytes += entry.num_bytes;
  const ChunkCheck check = num_bytes <= kMostBytesReadToCheck ? ChunkCheck::kWhole : ChunkCheck::kTable;
  std::vector<std::optional<TokenChunk>> opened(index->chunks.size());
  parallel_for(opened.size(), [&](std::size_t i) {
    const CacheIndex::Chunk& entry = index->chunks[i];
    if (entry.file < files.size()) opened[i] = TokenChunk::open(folder + "/" + entry.name, entry, check);
  });
  std::vector<TokenChunk> chunks;
  for (std::optional<TokenChunk>& chunk : opened) {
    if (!chunk.has_value()) return std::nullopt;
    chunks.push_back(std::move(*chunk));
  }
  return Dataset(paths_of(files), std::move(chunks), index->num_skipped_lines);
}

class CacheBuilder {
 public:
  CacheBuilder(const DatasetRequest& request, const RowRules& rules, const std::vector<SourceFile>& files,
               const DatasetCallbacks& callbacks)
      : request_(request),
        rules_(rules),
        files_(files),
        callbacks_(callbacks),
        ranges_(split_sources(files, rules.text_separator)) {}

  // False when keep_going said no.
  bool build(const std::string& folder) {
    BuildFolder build_folder(folder);
    const std::vector<std::uint32_t> first_lines = count_lines();
    results_.resize(ranges_.size());
    for (const SourceFile& file : files_) bytes_total_ += file.bytes.size();
    callbacks_.parallel_for(ranges_.size(), [&](std::size_t i) { tokenize(i, first_lines[i], build_folder.path()); });
    if (stopped_) return false;
    write_cache_index(build_folder.path(), make_index());
    build_folder.publish([&] { return open_cached(folder, files_, callbacks_.parallel_for).has_value(); });
    return true;
  }

 private:
  struct RangeResult {
    CacheIndex::Chunk chunk;
    std::vector<BadLine> bad_lines;
    std::int64_t num_bad_lines = 0;
    std::int64_t num_documents = 0;
    std::int32_t largest_id = -1;
  };

  // The 1-based line that each range begins with.
  std::vector<std::uint32_t> count_lines() const {
    std::vector<std::uint32_t> newlines(ranges_.size());
    callbacks_.parallel_for(ranges_.size(), [&](std::size_t i) {
      const std::string_view text = files_[ranges_[i].file].bytes.text();
      newlines[i] =
          static_cast<std::uint32_t>(std::count(text.begin() + ranges_[i].begin, text.begin() + ranges_[i].end, '\n'));
    });
    std::vector<std::uint32_t> first(ranges_.size(), 1);
    for (std::size_t i = 1; i < ranges_.size(); ++i) {
      if (ranges_[i].file == ranges_[i - 1].file) first[i] = first[i - 1] + newlines[i - 1];
    }
    return first;
  }

  void tokenize(std::size_t i, std::uint32_t first_line, const std::string& folder) {
    if (stopped_ || (callbacks_.keep_going && !callbacks_.keep_going())) {
      stopped_ = true;
      return;
    }
    const SourceRange& range = ranges_[i];
    TokenizedRange done = tokenize_range(files_[range.file], range, first_line, request_.tokenizer, rules_);
    RangeResult& result = results_[i];
    result.chunk.name = fmt::format("chunk-{:06}.tokens", i);
    result.chunk.file = range.file;
    result.chunk.crc32c = done.chunk.write(folder + "/" + result.chunk.name);
    result.chunk.num_bytes = fs::file_size(folder + "/" + result.chunk.name);
    result.bad_lines = std::move(done.bad_lines);
    result.num_bad_lines = done.num_bad_lines;
    result.num_documents = done.chunk.num_documents();
    result.largest_id = done.chunk.largest_id();
    const std::uint64_t bytes_done = bytes_done_.fetch_add(range.end - range.begin) + range.end - range.begin;
    if (callbacks_.progress) callbacks_.progress({bytes_done, bytes_total_});
  }

  // Fails: UserError with the first bad lines, unless they are to be skipped; when nothing is left.
  CacheIndex make_index() const {
    base::Problems problems;
    CacheIndex index;
    std::int64_t num_documents = 0;
    for (std::size_t i = 0; i < results_.size(); ++i) {
      const RangeResult& result = results_[i];
      index.chunks.push_back(result.chunk);
      index.largest_id = std::max(index.largest_id, result.largest_id);
      num_documents += result.num_documents;
      index.num_skipped_lines += result.num_bad_lines;
      for (const BadLine& bad : result.bad_lines) {
        if (request_.config->skip_bad_lines || problems.list().size() >= kMostBadLinesShown) continue;
        problems.add(bad.what, fmt::format("{}:{}", files_[result.chunk.file].path, bad.line),
                     "mend the line, or leave such lines out with --skip_bad_lines true");
      }
    }
    const auto shown = static_cast<std::int64_t>(problems.list().size());
    if (!request_.config->skip_bad_lines && index.num_skipped_lines > shown) {
      problems.add(fmt::format("{} more lines cannot be read", index.num_skipped_lines - shown), "",
                   "mend these first; all are named when they are few");
    }
    if (problems.empty() && num_documents == 0) {
      problems.add("there is no row to train on", files_.front().path, "give a file with at least one readable row");
    }
    problems.throw_if_any();
    return index;
  }

  const DatasetRequest& request_;
  const RowRules& rules_;
  const std::vector<SourceFile>& files_;
  const DatasetCallbacks& callbacks_;
  std::vector<SourceRange> ranges_;
  std::vector<RangeResult> results_;
  std::atomic<bool> stopped_{false};
  std::atomic<std::uint64_t> bytes_done_{0};
  std::uint64_t bytes_total_ = 0;
};

// A cache made for another model may hold ids that this one has no row for.
void check_ids(const Dataset& dataset, const std::string& folder, std::int64_t vocab_size) {
  const std::optional<CacheIndex> index = read_cache_index(folder);
  if (vocab_size == 0 || !index.has_value() || index->largest_id < vocab_size) return;
  for (std::int64_t i = 0; i < dataset.num_documents(); ++i) {
    const DocumentView document = dataset.document(i);
    for (const std::span<const std::int32_t> ids : {document.tokens, document.labels}) {
      const auto outside = std::find_if(ids.begin(), ids.end(), [&](std::int32_t id) { return id >= vocab_size; });
      if (outside == ids.end()) continue;
      throw base::UserError(fmt::format("the row holds the id {}, the model's vocab_size is {}", *outside, vocab_size),
                            dataset.place_of(i), "use the tokenizer of this model, or another model");
    }
  }
}

}  // namespace

std::optional<Dataset> open_dataset(const DatasetRequest& request, const DatasetCallbacks& callbacks) {
  const std::vector<SourceFile> files = open_sources(request.patterns, request.option_name);
  if (files.empty()) throw base::UserError("no training data is named", request.option_name, "give --train_file FILE");
  check_vocabulary(request);
  const RowRules rules = make_rules(request);
  const std::string key = cache_key(request, rules, files);
  const std::string folder = request.cache_folder + "/" + key;
  base::make_folders(request.cache_folder);
  std::optional<Dataset> dataset = open_cached(folder, files, callbacks.parallel_for);
  if (!dataset.has_value() && fs::exists(folder) && callbacks.notice) {
    callbacks.notice(fmt::format("the token cache {} is torn: the data is tokenised again", folder));
  }
  for (int builds = 0; !dataset.has_value() && builds < kMostBuilds; ++builds) {
    remove_abandoned_builds(request.cache_folder);
    if (!CacheBuilder(request, rules, files, callbacks).build(folder)) return std::nullopt;
    dataset = open_cached(folder, files, callbacks.parallel_for);
  }
  if (!dataset.has_value()) {
    throw base::EnvironmentError("the token cache was written and cannot be read back", folder,
                                 "check the disk, or name another folder with --cache_dir");
  }
  check_ids(*dataset, folder, request.vocab_size);
  dataset->set_fingerprint(key);
  if (request.max_samples.has_value()) {
    dataset->limit(*request.max_samples);
    dataset->set_fingerprint(fmt::format("{}-first-{}", key, *request.max_samples));
  }
  return dataset;
}

}  // namespace athanor::data
