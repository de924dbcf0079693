#include "core/data/row_example.h"

#include <fmt/format.h>

#include "core/base/unicode.h"
#include "core/data/micro_batch.h"

namespace athanor::data {

namespace {

// A stretch of more tokens is shown by its beginning and its end.
constexpr std::size_t kMostTokensShown = 120;
constexpr std::size_t kTokensAtBegin = 80;
constexpr std::size_t kTokensAtEnd = 24;
constexpr std::size_t kMostStretches = 10;
constexpr const char* kDocumentBorder = "\n-- next document --\n";

// Consecutive tokens that are all learnt or all not.
struct Stretch {
  std::span<const std::int32_t> tokens;
  bool is_learnt = false;
  bool begins_document = false;
};

void append_stretches(const DocumentView& document, const Piece& piece, std::vector<Stretch>& stretches) {
  const auto is_learnt = [&](std::uint32_t i) { return i > piece.begin && document.labels[i] != kNoTarget; };
  for (std::uint32_t begin = piece.begin; begin < piece.end;) {
    std::uint32_t end = begin + 1;
    while (end < piece.end && is_learnt(end) == is_learnt(begin)) ++end;
    stretches.push_back({document.tokens.subspan(begin, end - begin), is_learnt(begin), begin == piece.begin});
    begin = end;
  }
}

// What a terminal would act on is spelled out.
std::string without_control_characters(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t c = base::decode_utf8(text, at);
    if (c == '\t') {
      out += "    ";
    } else if ((c < 0x20 && c != '\n') || (c >= 0x7f && c < 0xa0)) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else {
      out += text.substr(begin, at - begin);
    }
  }
  return out;
}

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// Without the part of a character at the end, which the left out tokens would complete.
std::string_view whole_end(std::string_view bytes) {
  std::size_t last = bytes.size();
  while (last > 0 && continues_character(bytes[last - 1])) --last;
  if (last == 0) return bytes;
  const std::size_t bad = base::find_invalid_utf8(bytes.substr(last - 1));
  return bad == std::string_view::npos ? bytes : bytes.substr(0, last - 1);
}

std::string_view whole_begin(std::string_view bytes) {
  while (!bytes.empty() && continues_character(bytes.front())) bytes.remove_prefix(1);
  return bytes;
}

std::string bytes_of(std::span<const std::int32_t> tokens, const formats::Tokenizer* tokenizer) {
  std::string bytes;
  for (const std::int32_t id : tokens) {
    if (tokenizer == nullptr) {
      bytes += fmt::format("{}{}", bytes.empty() ? "" : " ", id);
    } else if (tokenizer->has_token(id)) {
      bytes += tokenizer->token_bytes(id);
    } else {
      bytes += fmt::format("<id {}>", id);
    }
  }
  return bytes;
}

std::string text_of(std::span<const std::int32_t> tokens, const formats::Tokenizer* tokenizer) {
  if (tokens.size() <= kMostTokensShown) {
    return without_control_characters(base::replace_invalid_utf8(bytes_of(tokens, tokenizer)));
  }
  const std::string begin = bytes_of(tokens.first(kTokensAtBegin), tokenizer);
  const std::string end = bytes_of(tokens.last(kTokensAtEnd), tokenizer);
  return without_control_characters(base::replace_invalid_utf8(whole_end(begin))) +
         fmt::format(" ... ({} tokens) ... ", tokens.size() - kTokensAtBegin - kTokensAtEnd) +
         without_control_characters(base::replace_invalid_utf8(whole_begin(end)));
}

}  // namespace

std::string mark_row(const Dataset& dataset, std::span<const Piece> row, const formats::Tokenizer* tokenizer,
                     ExampleMarks marks) {
  std::vector<Stretch> stretches;
  for (const Piece& piece : row) append_stretches(dataset.document(piece.document), piece, stretches);
  const bool in_colour = marks == ExampleMarks::kColour;
  std::string text;
  for (std::size_t i = 0; i < stretches.size() && i < kMostStretches; ++i) {
    const Stretch& stretch = stretches[i];
    const std::string shown = text_of(stretch.tokens, tokenizer);
    if (i > 0) text += stretch.begins_document ? kDocumentBorder : tokenizer == nullptr ? " " : "";
    if (stretch.is_learnt) text += in_colour ? kColourBegin : kLearntBegin;
    text += shown;
    if (stretch.is_learnt) text += in_colour ? kColourEnd : kLearntEnd;
  }
  if (stretches.size() > kMostStretches) {
    std::size_t left_out = 0;
    for (std::size_t i = kMostStretches; i < stretches.size(); ++i) left_out += stretches[i].tokens.size();
    text += fmt::format("\n... ({} more tokens in this row)", left_out);
  }
  return text;
}

}  // namespace athanor::data
