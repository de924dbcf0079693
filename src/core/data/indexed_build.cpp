#include "core/data/indexed_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/fault_point.h"
#include "core/base/file.h"
#include "core/data/micro_batch.h"
#include "core/data/tokenize_range.h"

namespace athanor::data {

namespace {

// Text that is tokenised before its tokens are written: enough for many workers, little enough to hold.
constexpr std::size_t kWaveBytes = 64 << 20;
constexpr std::size_t kMostBadLinesShown = 20;

class Build {
 public:
  Build(const IndexedBuildRequest& request, const IndexedBuildCallbacks& callbacks)
      : request_(request),
        callbacks_(callbacks),
        files_(open_sources(request.patterns, "FILE")),
        ranges_(split_sources(files_, request.rules.text_separator)) {
    for (const SourceRange& range : ranges_) progress_.bytes_total += range.end - range.begin;
  }

  IndexedBuildResult run() {
    const std::string folder = std::filesystem::path(request_.prefix).parent_path().string();
    if (!folder.empty()) base::make_folders(folder);
    const std::string lock_path = request_.prefix + ".lock";
    const base::FileLock lock = base::FileLock::try_lock(lock_path);
    if (!lock.held()) {
      throw base::UserError("another build is writing to this place", request_.prefix,
                            "wait for it to end, or give another --output");
    }
    const formats::TokenType type = formats::smallest_token_type(request_.tokenizer->vocab_size());
    formats::IndexedTokensWriter writer(request_.prefix, type);
    for (std::size_t begin = 0; begin < ranges_.size();) begin = run_wave(begin, writer);
    finish_problems();
    if (writer.num_documents() == 0) {
      throw base::UserError("the files hold no document", request_.patterns.front(),
                            "give files with at least one row");
    }
    base::fault_point(base::FaultPoint::kCacheBeforeCommit);
    writer.commit();
    std::filesystem::remove(lock_path);
    return {writer.num_documents(), writer.num_tokens(), num_bad_lines_, type};
  }

 private:
  std::size_t run_wave(std::size_t begin, formats::IndexedTokensWriter& writer) {
    std::size_t end = begin;
    std::size_t num_bytes = 0;
    for (; end < ranges_.size() && (end == begin || num_bytes < kWaveBytes); ++end) num_bytes += size_of(ranges_[end]);
    std::vector<TokenizedRange> results(end - begin);
    std::vector<std::uint32_t> newlines(end - begin);
    callbacks_.parallel_for(end - begin, [&](std::size_t i) {
      const SourceRange& range = ranges_[begin + i];
      const std::string_view text = files_[range.file].bytes.text().substr(range.begin, range.end - range.begin);
      newlines[i] = static_cast<std::uint32_t>(std::ranges::count(text, '\n'));
      // Lines are counted within the range here; put_out() knows where it begins.
      results[i] = tokenize_range(files_[range.file], range, 1, request_.tokenizer, request_.rules);
    });
    for (std::size_t i = 0; i < results.size(); ++i) {
      const SourceRange& range = ranges_[begin + i];
      if (range.begin == 0) lines_before_ = 0;
      put_out(results[i], files_[range.file], writer);
      lines_before_ += newlines[i];
    }
    progress_.bytes_done += num_bytes;
    progress_.num_tokens = writer.num_tokens();
    if (callbacks_.progress) callbacks_.progress(progress_);
    base::fault_point(base::FaultPoint::kCacheMidWrite);
    return end;
  }

  static std::size_t size_of(const SourceRange& range) { return range.end - range.begin; }

  void put_out(const TokenizedRange& result, const SourceFile& file, formats::IndexedTokensWriter& writer) {
    for (const BadLine& bad : result.bad_lines) note_bad_line(file, bad.line, bad.what);
    num_bad_lines_ += result.num_bad_lines - static_cast<std::int64_t>(result.bad_lines.size());
    for (const ChunkDocument& document : result.chunk.documents()) {
      const auto labels = result.chunk.labels(document);
      const bool has_unlearnt = std::ranges::count(labels, kNoTarget) > 0;
      if (document.kind == DocumentKind::kConversation || (document.kind == DocumentKind::kTokens && has_unlearnt)) {
        note_bad_line(file, document.line, "this row has parts that are not learnt, which .bin/.idx files cannot mark");
      } else if (num_bad_lines_ == 0 || request_.bad_lines == BadLines::kSkip) {
        writer.add_document(result.chunk.tokens(document));
      }
    }
  }

  void note_bad_line(const SourceFile& file, std::uint32_t line, const std::string& what) {
    ++num_bad_lines_;
    if (request_.bad_lines == BadLines::kSkip || problems_.list().size() >= kMostBadLinesShown) return;
    problems_.add(what, fmt::format("{}:{}", file.path, lines_before_ + line),
                  "mend the line, leave such lines out with --skip_bad_lines, or train from the file itself");
  }

  void finish_problems() {
    const auto shown = static_cast<std::int64_t>(problems_.list().size());
    if (shown > 0 && num_bad_lines_ > shown) {
      problems_.add(fmt::format("{} more lines cannot be used", num_bad_lines_ - shown), "", "see the lines above");
    }
    problems_.throw_if_any();
  }

  const IndexedBuildRequest& request_;
  const IndexedBuildCallbacks& callbacks_;
  std::vector<SourceFile> files_;
  std::vector<SourceRange> ranges_;
  IndexedBuildProgress progress_;
  std::uint32_t lines_before_ = 0;  // of the file, before the range that is put out
  std::int64_t num_bad_lines_ = 0;
  base::Problems problems_;
};

}  // namespace

IndexedBuildResult build_indexed_tokens(const IndexedBuildRequest& request, const IndexedBuildCallbacks& callbacks) {
  return Build(request, callbacks).run();
}

}  // namespace athanor::data
