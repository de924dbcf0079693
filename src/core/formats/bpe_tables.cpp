#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/json.h"
#include "core/base/unicode.h"
#include "core/formats/byte_alphabet.h"
#include "core/formats/tokenizer_json.h"

namespace athanor::formats {

namespace {

constexpr const char* kTornRemedy = "copy the file again from its source; it is torn or was edited";
constexpr int kMaxDepth = 100;

struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool found() const { return end > begin; }
};

bool is_json_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// Walks over JSON without building a tree.
class Cursor {
 public:
  Cursor(std::string_view text, const std::string& name, std::size_t offset = 0)
      : text_(text), name_(name), offset_(offset) {}

  std::size_t offset() const { return offset_; }

  [[noreturn]] void fail(const std::string& what, std::size_t offset, const char* remedy = kTornRemedy) const {
    const std::string_view before = text_.substr(0, std::min(offset, text_.size()));
    const auto line = 1 + std::ranges::count(before, '\n');
    const std::string_view in_line = before.substr(before.rfind('\n') + 1);
    throw base::UserError(what, fmt::format("{}:{}:{}", name_, line, base::count_code_points(in_line) + 1), remedy);
  }

  char peek() {
    while (offset_ < text_.size() && is_json_space(text_[offset_])) ++offset_;
    if (offset_ == text_.size()) fail("the file ends in the middle", offset_);
    return text_[offset_];
  }
  bool skip(char c) {
    if (peek() != c) return false;
    ++offset_;
    return true;
  }
  void expect(char c) {
    if (!skip(c)) fail(fmt::format("'{}' is expected here", c), offset_);
  }

  // The text of a string; valid until the next call when it holds escapes, else a view of the file.
  std::string_view string() {
    peek();
    const std::size_t start = offset_;
    expect('"');
    const std::size_t content = offset_;
    bool has_escapes = false;
    while (true) {
      while (offset_ < text_.size() && text_[offset_] != '"' && text_[offset_] != '\\') ++offset_;
      if (offset_ >= text_.size()) fail("a text without its closing quote", start);
      if (text_[offset_] == '"') break;
      has_escapes = true;
      offset_ += 2;
    }
    ++offset_;
    if (!has_escapes) return text_.substr(content, offset_ - 1 - content);
    try {
      escaped_ = base::parse_json(text_.substr(content - 1, offset_ - content + 1), name_).as_string();
    } catch (const base::UserError& error) {
      fail(error.problems().front().what, content - 1);
    }
    return escaped_;
  }

  std::int64_t integer() {
    peek();
    std::int64_t value = 0;
    const auto parsed = std::from_chars(text_.data() + offset_, text_.data() + text_.size(), value);
    if (parsed.ec != std::errc()) fail("a whole number is expected here", offset_);
    offset_ = static_cast<std::size_t>(parsed.ptr - text_.data());
    return value;
  }

  void skip_value(int depth = 0) {
    const char c = peek();
    if (depth > kMaxDepth) fail("this is nested too deeply", offset_);
    if (c == '"') {
      string();
    } else if (c == '{') {
      members([&](std::string_view, std::size_t) { skip_value(depth + 1); });
    } else if (c == '[') {
      items([&] { skip_value(depth + 1); });
    } else {
      const std::size_t start = offset_;
      while (offset_ < text_.size() && !is_json_space(text_[offset_]) &&
             std::string_view(",]}").find(text_[offset_]) == std::string_view::npos)
        ++offset_;
      if (offset_ == start) fail("a value is expected here", offset_);
    }
  }

  // Calls visit(key, offset of the key) with the cursor on the value, which visit must walk over.
  template <typename Visit>
  void members(Visit visit) {
    expect('{');
    if (skip('}')) return;
    do {
      const std::size_t place = (peek(), offset_);
      const std::string_view key = string();
      expect(':');
      visit(key, place);
    } while (skip(','));
    expect('}');
  }
  template <typename Visit>
  void items(Visit visit) {
    expect('[');
    if (skip(']')) return;
    do {
      visit();
    } while (skip(','));
    expect(']');
  }

 private:
  std::string_view text_;
  const std::string& name_;
  std::size_t offset_;
  std::string escaped_;
};

struct Spans {
  Span vocabulary;
  Span merges;
  bool has_model = false;
};

Spans find_spans(std::string_view text, const std::string& name) {
  Spans spans;
  const std::string_view byte_order_mark = "\xef\xbb\xbf";
  Cursor cursor(text, name, text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0);
  const auto span_of_value = [&](Span& span) {
    cursor.peek();
    span.begin = cursor.offset();
    cursor.skip_value();
    span.end = cursor.offset();
  };
  cursor.members([&](std::string_view key, std::size_t place) {
    if (key != "model" || cursor.peek() != '{') return cursor.skip_value();
    if (spans.has_model) cursor.fail("\"model\" stands here a second time", place);
    spans.has_model = true;
    cursor.members([&](std::string_view member, std::size_t) {
      const char c = cursor.peek();
      if (member == "vocab" && c == '{') return span_of_value(spans.vocabulary);
      if (member == "merges" && c == '[') return span_of_value(spans.merges);
      cursor.skip_value();
    });
  });
  return spans;
}

// A token as the file writes it, and how it is looked up.
struct Spelled {
  std::string bytes;
  BpeVocabulary::Spelling spelling = BpeVocabulary::Spelling::kBytes;

  void set(std::string_view text) {
    bytes.clear();
    const bool in_alphabet = append_token_bytes(text, bytes);
    spelling = in_alphabet ? BpeVocabulary::Spelling::kBytes : BpeVocabulary::Spelling::kLiteral;
  }
};

// A fair guess of how many entries a stretch of JSON holds, to make room once.
std::size_t guess_entries(std::string_view text, char separator) { return std::ranges::count(text, separator) + 1; }

void read_vocabulary(std::string_view text, const std::string& name, const Span& span, BpeVocabulary& out) {
  const std::string_view part = text.substr(span.begin, span.end - span.begin);
  out.reserve(guess_entries(part, ','), part.size() / 2);
  Cursor cursor(text.substr(0, span.end), name, span.begin);
  Spelled token;
  cursor.members([&](std::string_view key, std::size_t place) {
    token.set(key);
    const std::int64_t id = cursor.integer();
    if (id < 0 || id > BpeVocabulary::kMaxId) {
      cursor.fail(fmt::format("the id {} of the token {:?} is out of range", id, key), place);
    }
    if (out.add(static_cast<std::int32_t>(id), token.bytes, token.spelling)) return;
    const bool id_taken = out.contains(static_cast<std::int32_t>(id));
    cursor.fail(id_taken ? fmt::format("the id {} belongs to two tokens", id)
                         : fmt::format("the token {:?} stands in the vocabulary twice", key),
                place);
  });
}

bool is_concatenation(const BpeVocabulary& vocabulary, std::int32_t id, std::int32_t left, std::int32_t right) {
  for (const std::int32_t part : {id, left, right}) {
    if (!vocabulary.contains(part) || vocabulary.spelling(part) != BpeVocabulary::Spelling::kBytes) return false;
  }
  const std::string_view bytes = vocabulary.bytes(id);
  const std::string_view first = vocabulary.bytes(left);
  return bytes.starts_with(first) && bytes.substr(first.size()) == vocabulary.bytes(right);
}

void read_merges(std::string_view text, const std::string& name, const Span& span, const BpeVocabulary& vocabulary,
                 MergeTable& out) {
  const std::string_view part = text.substr(span.begin, span.end - span.begin);
  Cursor cursor(text.substr(0, span.end), name, span.begin);
  out.reserve(guess_entries(part, ','));
  std::string left;
  std::string right;
  Spelled token;
  cursor.items([&] {
    const std::size_t place = (cursor.peek(), cursor.offset());
    if (cursor.skip('[')) {
      left = cursor.string();
      cursor.expect(',');
      right = cursor.string();
      cursor.expect(']');
    } else {
      const std::string_view both = cursor.string();
      const std::size_t space = both.find(' ');
      if (space == std::string_view::npos || both.find(' ', space + 1) != std::string_view::npos) {
        cursor.fail("a merge must be two tokens with one space between them", place);
      }
      left = both.substr(0, space);
      right = both.substr(space + 1);
    }
    const auto id_of = [&](std::string_view written) {
      token.set(written);
      const std::int32_t id = vocabulary.find(token.bytes, token.spelling);
      if (id < 0) cursor.fail(fmt::format("the merge names {:?}, which is not in the vocabulary", written), place);
      return id;
    };
    const std::int32_t left_id = id_of(left);
    const std::int32_t right_id = id_of(right);
    // Training numbers the tokens as it makes them, so the next id is nearly always the one.
    const std::int32_t guess = out.size() == 0 ? 0 : out.merged(static_cast<std::uint32_t>(out.size() - 1)) + 1;
    const std::int32_t merged_id =
        is_concatenation(vocabulary, guess, left_id, right_id) ? guess : id_of(left += right);
    if (out.size() >= MergeTable::kMaxRules) cursor.fail("there are more merges than this program can hold", place);
    if (!out.add(left_id, right_id, merged_id)) cursor.fail("this merge stands in the file twice", place);
  });
}

// The text with the inside of `span` gone but for its line breaks.
void append_hollow(std::string& out, std::string_view text, const Span& span) {
  const std::string_view inside = text.substr(span.begin, span.end - span.begin);
  out += inside.front();
  out.append(static_cast<std::size_t>(std::ranges::count(inside, '\n')), '\n');
  out += inside.back();
}

std::string make_skeleton(std::string_view text, std::vector<Span> spans) {
  std::erase_if(spans, [](const Span& span) { return !span.found(); });
  std::ranges::sort(spans, {}, &Span::begin);
  std::string out;
  std::size_t done = 0;
  for (const Span& span : spans) {
    out += text.substr(done, span.begin - done);
    append_hollow(out, text, span);
    done = span.end;
  }
  out += text.substr(done);
  return out;
}

}  // namespace

BpeTables read_bpe_tables(std::string_view text, const std::string& name) {
  if (const std::size_t bad = base::find_invalid_utf8(text); bad != std::string_view::npos) {
    Cursor(text, name).fail("this is not UTF-8 text", bad);
  }
  const Spans spans = find_spans(text, name);
  BpeTables out;
  out.has_model = spans.has_model;
  if (spans.vocabulary.found()) read_vocabulary(text, name, spans.vocabulary, out.vocabulary);
  if (spans.vocabulary.found() && spans.merges.found())
    read_merges(text, name, spans.merges, out.vocabulary, out.merges);
  out.skeleton = make_skeleton(text, {spans.vocabulary, spans.merges});
  return out;
}

}  // namespace athanor::formats
