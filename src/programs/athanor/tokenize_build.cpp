// `athanor tokenize build`: text and rows to .bin/.idx, in parallel, with one progress line.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/data/indexed_build.h"
#include "programs/athanor/thread_loop.h"
#include "programs/athanor/tokenize.h"

namespace athanor::command {

namespace {

using base::Clock;
using base::Seconds;

constexpr Seconds kBetweenPlainLines{5.0};

// One line that is written over on a terminal; a line now and then where there is none.
class ProgressLine {
 public:
  void show(const data::IndexedBuildProgress& progress) {
    const Clock::time_point now = Clock::now();
    const bool is_last = progress.bytes_done == progress.bytes_total;
    if (!on_terminal_ && !is_last && now - last_shown_ < kBetweenPlainLines) return;
    last_shown_ = now;
    const double seconds = Seconds(now - start_).count();
    const double rate = static_cast<double>(progress.bytes_done) / std::max(seconds, 1e-9);
    const double left = static_cast<double>(progress.bytes_total - progress.bytes_done) / std::max(rate, 1.0);
    fmt::print(stderr, "{}tokenised {:.1f} of {:.1f} MB ({:.0f}%), {:.1f} MB/s, {} tokens, {} left{}",
               on_terminal_ ? "\r" : "", static_cast<double>(progress.bytes_done) / 1e6,
               static_cast<double>(progress.bytes_total) / 1e6,
               100.0 * static_cast<double>(progress.bytes_done) / static_cast<double>(progress.bytes_total), rate / 1e6,
               progress.num_tokens, base::format_duration(Seconds(left)), on_terminal_ && !is_last ? "  " : "\n");
    std::fflush(stderr);
  }

 private:
  bool on_terminal_ = ::isatty(STDERR_FILENO) == 1;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_shown_ = start_;
};

std::size_t take_num_workers(CommandLine& line) {
  const std::string text = line.take_value("--num_workers");
  if (text.empty()) return 0;
  std::size_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || value == 0 || value > 1024) {
    throw base::UserError(fmt::format("{} is no number of workers", text), "--num_workers",
                          "give a whole number from 1 to 1024, or leave the flag out to use every core");
  }
  return value;
}

const char* type_name(formats::TokenType type) { return type == formats::TokenType::kUint16 ? "uint16" : "int32"; }

}  // namespace

int run_tokenize_build(CommandLine line) {
  const formats::Tokenizer tokenizer = take_tokenizer(line);
  data::IndexedBuildRequest request;
  request.tokenizer = &tokenizer;
  request.prefix = formats::indexed_tokens_prefix(line.take_value("--output"));
  const std::string column = line.take_value("--text_column");
  if (!column.empty()) request.rules.text_column = column;
  if (line.take_switch("--no_bos")) request.rules.bos = data::EdgeToken::kNone;
  if (line.take_switch("--no_eos")) request.rules.eos = data::EdgeToken::kNone;
  if (line.take_switch("--skip_bad_lines")) request.bad_lines = data::BadLines::kSkip;
  const std::size_t num_workers = take_num_workers(line);
  refuse_flags(
      line, {"--tokenizer", "--output", "--text_column", "--no_bos", "--no_eos", "--skip_bad_lines", "--num_workers"});
  if (request.prefix.empty()) {
    throw base::UserError("the files to write are not named", "athanor tokenize build",
                          "give --output PREFIX; PREFIX.bin and PREFIX.idx are written");
  }
  if (line.words.empty()) {
    throw base::UserError("no file is named", "athanor tokenize build", "give .jsonl, .json or .txt files, or globs");
  }
  request.patterns = line.words;
  for (const std::string& note : tokenizer.notes()) fmt::print(stderr, "athanor: note: {}\n", note);

  ProgressLine progress_line;
  data::IndexedBuildCallbacks callbacks;
  callbacks.parallel_for = make_thread_loop(num_workers);
  callbacks.progress = [&](const data::IndexedBuildProgress& progress) { progress_line.show(progress); };
  const data::IndexedBuildResult result = data::build_indexed_tokens(request, callbacks);
  fmt::print("{0}.bin and {0}.idx: {1} documents, {2} tokens as {3}\n", request.prefix, result.num_documents,
             result.num_tokens, type_name(result.type));
  if (result.num_skipped_lines > 0) fmt::print("{} lines were left out (--skip_bad_lines)\n", result.num_skipped_lines);
  return 0;
}

}  // namespace athanor::command
