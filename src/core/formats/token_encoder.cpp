#include <fmt/format.h>

#include <array>
#include <limits>

#include "core/base/unicode.h"
#include "core/formats/tokenizer.h"
#include "core/formats/tokenizer_state.h"
#include "core/formats/unicode_normalization.h"
#include "core/formats/word_cache.h"

namespace athanor::formats {

namespace {

// Pieces are cut in batches of this many ends, so that memory does not grow with the text.
constexpr std::size_t kBatchPieces = 512;
// A short text alone is not worth the cache's memory.
constexpr std::size_t kCacheAfterBytes = 16 << 10;

}  // namespace

struct TokenEncoder::Workspace {
  BpeScratch bpe;
  WordCache cache;
  RegexMatcher matcher;
  PieceList pieces;
  std::array<std::size_t, kBatchPieces> ends;
  std::size_t num_bytes_seen = 0;
};

TokenEncoder::TokenEncoder(const Tokenizer& tokenizer)
    : tokenizer_(tokenizer), workspace_(std::make_unique<Workspace>()) {}
TokenEncoder::~TokenEncoder() = default;
TokenEncoder::TokenEncoder(TokenEncoder&&) noexcept = default;
TokenEncoder& TokenEncoder::operator=(TokenEncoder&&) noexcept = default;

void TokenEncoder::encode(std::string_view text, SpecialTokens special, std::vector<std::int32_t>& out) {
  const Tokenizer::State& state = *tokenizer_.state_;
  if (text.size() >= std::numeric_limits<std::uint32_t>::max()) {
    throw base::UserError(fmt::format("one text of {} bytes is too long to tokenise", text.size()), "",
                          "split it into documents below 4 GiB");
  }
  std::string replaced;
  if (base::find_invalid_utf8(text) != std::string_view::npos) {
    replaced = base::replace_invalid_utf8(text);
    text = replaced;
  }
  workspace_->num_bytes_seen += text.size();
  const std::size_t size_before = out.size();
  try {
    if (special == SpecialTokens::kAdd) out.insert(out.end(), state.prefix_ids.begin(), state.prefix_ids.end());
    std::size_t done = 0;
    while (const auto match = state.raw_matcher.find(text, done)) {
      encode_gap(text.substr(done, match->begin - done), out);
      out.push_back(match->id);
      done = match->end;
    }
    encode_gap(text.substr(done), out);
    if (special == SpecialTokens::kAdd) out.insert(out.end(), state.suffix_ids.begin(), state.suffix_ids.end());
  } catch (...) {
    out.resize(size_before);
    throw;
  }
}

// A stretch without raw added tokens.
void TokenEncoder::encode_gap(std::string_view text, std::vector<std::int32_t>& out) {
  const Tokenizer::State& state = *tokenizer_.state_;
  std::string normalized;
  if (state.normalize_nfc && !is_surely_nfc(text)) {
    normalized = normalize_nfc(text);
    text = normalized;
  }
  std::size_t done = 0;
  while (const auto match = state.normalized_matcher.find(text, done)) {
    encode_plain(text.substr(done, match->begin - done), out);
    out.push_back(match->id);
    done = match->end;
  }
  encode_plain(text.substr(done), out);
}

// A stretch without added tokens.
void TokenEncoder::encode_plain(std::string_view text, std::vector<std::int32_t>& out) {
  if (text.empty()) return;
  const Tokenizer::State& state = *tokenizer_.state_;
  Workspace& work = *workspace_;
  const char* text_end = text.data() + text.size();
  const bool use_cache = work.num_bytes_seen >= kCacheAfterBytes;
  const auto encode_slowly = [&](std::string_view piece) {
    const int missing = state.model.encode(piece, work.bpe, out);
    if (missing < 0) return;
    throw base::UserError(fmt::format("the vocabulary has no token for the byte 0x{:02x}", missing), state.name,
                          "use a tokenizer that has all 256 bytes");
  };
  const auto encode_piece = [&](std::string_view piece, const char* readable_end) {
    if (piece.size() > WordCache::kMaxBytes || !use_cache) return encode_slowly(piece);
    const WordCache::Entry key = WordCache::key_of(piece, readable_end);
    if (const WordCache::Entry* entry = work.cache.find(key)) {
      for (std::size_t i = 0; i < entry->num_ids; ++i) out.push_back(entry->ids[i]);
      return;
    }
    const std::size_t before = out.size();
    encode_slowly(piece);
    work.cache.store(key, std::span(out).subspan(before));
  };
  if (const PieceScanner* scanner = state.pre_tokenizer->scanner()) {
    ScanPosition position;
    std::size_t begin = 0;
    while (const std::size_t count = scanner->scan(text, position, work.ends)) {
      for (std::size_t i = 0; i < count; ++i) {
        encode_piece(text.substr(begin, work.ends[i] - begin), text_end);
        begin = work.ends[i];
      }
    }
    return;
  }
  work.pieces.clear();
  state.pre_tokenizer->split(text, work.matcher, work.pieces);
  for (const std::string_view piece : work.pieces.pieces) encode_piece(piece, piece.data() + piece.size());
}

}  // namespace athanor::formats
