// Hjson as the Python hjson package 3.1 reads it, decision by decision: what an unquoted text swallows, where a comma may miss,
// which spellings are numbers. Where the package raises IndexError on a cut-off text, this gives a message.
#include <fmt/format.h>

#include <optional>

#include "core/base/json_source.h"
#include "core/base/unicode.h"

namespace athanor::base {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_line_end(char c) { return c == '\n' || c == '\r'; }
bool is_punctuator(char c) { return c == '{' || c == '}' || c == '[' || c == ']' || c == ',' || c == ':'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// What Python's str.strip() removes.
bool is_python_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

std::string_view strip(std::string_view text) {
  std::size_t begin = text.size();
  std::size_t end = 0;
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t here = offset;
    if (is_python_space(decode_utf8(text, offset))) continue;
    begin = std::min(begin, here);
    end = offset;
  }
  return begin < end ? text.substr(begin, end - begin) : text.substr(0, 0);
}

std::string_view strip_right(std::string_view text) {
  const std::string_view stripped = strip(text);
  return text.substr(0, static_cast<std::size_t>(stripped.data() + stripped.size() - text.data()));
}

// The number that `text` spells, blanks around it allowed; nothing when it is no JSON number.
std::optional<JsonValue> read_number(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  std::size_t i = 0;
  const auto at = [&](std::size_t k) { return k < text.size() ? text[k] : '\0'; };
  const auto skip_digits = [&] {
    const std::size_t begin = i;
    while (is_digit(at(i))) ++i;
    return i > begin;
  };
  if (at(i) == '-') ++i;
  if (at(i) == '0') {
    ++i;
  } else if (!skip_digits()) {
    return std::nullopt;
  }
  if (at(i) == '.') {
    ++i;
    if (!skip_digits()) return std::nullopt;
  }
  if (at(i) == 'e' || at(i) == 'E') {
    ++i;
    if (at(i) == '+' || at(i) == '-') ++i;
    if (!skip_digits()) return std::nullopt;
  }
  if (i != text.size()) return std::nullopt;
  return JsonValue::parsed_number(std::string(text));
}

enum class Braces { kWritten, kMissing };

class HjsonParser {
 public:
  explicit HjsonParser(JsonSource& source) : source_(source), text_(source.text()), offset_(source.start()) {}

  JsonValue parse_document() {
    skip_space();
    if (source_.at_end(offset_)) return JsonValue::object();
    const char c = source_.at(offset_);
    JsonValue value = c == '{' || c == '[' ? parse_value(0) : parse_root_without_brackets();
    skip_space();
    if (!source_.at_end(offset_)) {
      source_.fail(offset_, "text after the end of the object", "remove it, or look for a bracket closed too early");
    }
    return value;
  }

 private:
  // A root that opens no bracket is an object without its braces, or else a single value.
  JsonValue parse_root_without_brackets() {
    const std::size_t begin = offset_;
    try {
      const Position position = source_.position(begin);
      JsonValue value = parse_members(begin, 0, Braces::kMissing);
      value.set_position(position);
      return value;
    } catch (const UserError&) {
      offset_ = begin;
      const std::optional<JsonValue> single = parse_single_value();
      if (!single) throw;
      return *single;
    }
  }

  std::optional<JsonValue> parse_single_value() {
    try {
      JsonValue value = parse_value(0);
      skip_space();
      if (source_.at_end(offset_)) return value;
    } catch (const UserError&) {
      // The message about the object is the one that helps.
    }
    return std::nullopt;
  }

  // Blanks, line ends and comments.
  void skip_space() {
    while (true) {
      while (is_space(source_.at(offset_))) ++offset_;
      if (source_.at(offset_) == '#' || source_.has(offset_, "//")) {
        while (!source_.at_end(offset_) && !is_line_end(text_[offset_])) ++offset_;
      } else if (source_.has(offset_, "/*")) {
        const std::size_t close = text_.find("*/", offset_ + 2);
        if (close == std::string_view::npos) source_.fail(offset_, "a comment is not closed", "close it with */");
        offset_ = close + 2;
      } else {
        return;
      }
    }
  }

  JsonValue parse_value(int depth) {
    const std::size_t begin = offset_;
    const Position position = source_.position(begin);
    JsonValue value;
    const char c = source_.at(offset_);
    if (source_.has(offset_, "'''")) {
      value = JsonValue(parse_multi_line_string());
    } else if (c == '"' || c == '\'') {
      value = JsonValue(parse_quoted_string());
    } else if (c == '{') {
      check_depth(depth);
      ++offset_;
      value = parse_members(begin, depth, Braces::kWritten);
    } else if (c == '[') {
      check_depth(depth);
      value = parse_array(depth);
    } else {
      value = parse_unquoted();
    }
    value.set_position(position);
    return value;
  }

  void check_depth(int depth) {
    if (depth >= kMaximumJsonDepth) {
      source_.fail(offset_, fmt::format("brackets are nested more than {} deep", kMaximumJsonDepth),
                   "flatten the value or check for a missing closing bracket");
    }
  }

  JsonValue parse_members(std::size_t begin, int depth, Braces braces) {
    JsonValue object = JsonValue::object();
    skip_space();
    if (braces == Braces::kWritten && source_.at(offset_) == '}') {
      ++offset_;
      return object;
    }
    while (true) {
      if (source_.at_end(offset_) && braces == Braces::kWritten) fail_unclosed(begin, '}');
      const std::size_t key_begin = offset_;
      const Position key_position = source_.position(key_begin);
      std::string key = parse_key();
      skip_space();
      if (source_.at(offset_) != ':') {
        source_.fail(offset_, fmt::format("key {} is not followed by a colon", quote_json(key)),
                     "write \"key\": value");
      }
      ++offset_;
      skip_space();
      if (source_.at_end(offset_))
        source_.fail(offset_, fmt::format("key {} has no value", quote_json(key)), "give the value");
      object.add_member(std::move(key), parse_value(depth + 1), key_position);
      skip_space();
      if (source_.at(offset_) == ',') {
        ++offset_;
        skip_space();
      }
      if (braces == Braces::kMissing && source_.at_end(offset_)) return object;
      if (braces == Braces::kWritten && source_.at(offset_) == '}') {
        ++offset_;
        return object;
      }
    }
  }

  std::string parse_key() {
    const char first = source_.at(offset_);
    if (first == '"' || first == '\'') return parse_quoted_string();
    const std::size_t begin = offset_;
    std::size_t end = begin;  // behind the last character that is no blank
    for (;; ++offset_) {
      if (source_.at_end(offset_)) {
        source_.fail(begin, "the text ends within a key", unquoted_remedy("write key: value, or close the bracket"));
      }
      const char c = text_[offset_];
      if (c == ':') break;
      if (c == '{' || c == '}' || c == '[' || c == ']' || c == ',') {
        source_.fail(offset_, fmt::format("{} stands where a key is expected", c),
                     unquoted_remedy("remove it, check the brackets before it, or put the key in quotes"));
      }
      if (is_space(c)) continue;
      if (offset_ != end) {
        source_.fail(begin, "a key without quotes holds a blank or a line break",
                     unquoted_remedy("put the key in quotes, or look for a colon missing before this place"));
      }
      end = offset_ + 1;
    }
    if (offset_ == begin) source_.fail(begin, "a colon with no key before it", "write key: value");
    // Blanks before the colon are taken off; a wide space that belongs to the key is not.
    const std::string_view key = text_.substr(begin, end - begin);
    return std::string(offset_ == end ? key : strip_right(key));
  }

  JsonValue parse_array(int depth) {
    const std::size_t begin = offset_++;
    std::vector<JsonValue> items;
    skip_space();
    while (source_.at(offset_) != ']') {
      if (source_.at_end(offset_)) fail_unclosed(begin, ']');
      items.push_back(parse_value(depth + 1));
      skip_space();
      if (source_.at(offset_) == ',') {
        ++offset_;
        skip_space();
      }
    }
    ++offset_;
    return JsonValue::array(std::move(items));
  }

  [[noreturn]] void fail_unclosed(std::size_t begin, char closing) {
    const Position opened = source_.position(begin);
    source_.fail(text_.size(),
                 fmt::format("the text ends before the bracket opened at line {}, column {} is closed", opened.line,
                             opened.column),
                 unquoted_remedy(fmt::format("close it with {}; if the file was cut short, make it again", closing)));
  }

  // An unquoted text that swallowed a bracket is the likeliest cause of a bracket that misses.
  std::string unquoted_remedy(std::string otherwise) const {
    if (swallower_.line == 0) return otherwise;
    return fmt::format(
        "put the value at line {}, column {} in quotes: without them it runs to the end of its line and "
        "takes the comma or bracket with it",
        swallower_.line, swallower_.column);
  }

  std::string parse_quoted_string() {
    const std::size_t begin = offset_;
    const char quote = text_[offset_++];
    std::string value;
    while (true) {
      if (source_.at_end(offset_))
        source_.fail(begin, "a text has no closing quote", fmt::format("close it with {}", quote));
      const char c = text_[offset_];
      if (c == quote) {
        ++offset_;
        return value;
      }
      if (c == '\\') {
        offset_ = source_.append_escape(value, offset_, "'");
      } else if (is_line_end(c)) {
        source_.fail(begin, "a text has no closing quote on its line",
                     fmt::format("close it with {}, or write \\n for a line break", quote));
      } else if (static_cast<unsigned char>(c) < 0x20) {
        source_.fail(
            offset_, fmt::format("a text holds the control character 0x{:02x}", static_cast<unsigned>(c)),
            fmt::format("write it as {}", c == '\t' ? "\\t" : fmt::format("\\u{:04x}", static_cast<unsigned>(c))));
      } else {
        value += c;
        ++offset_;
      }
    }
  }

  // ''' ... ''': the indentation of the opening quotes is taken off every line, and the last line break is dropped.
  std::string parse_multi_line_string() {
    const std::size_t begin = offset_;
    const int indentation = source_.position(begin).column - 1;
    offset_ += 3;
    skip_indentation(-1);
    if (source_.at(offset_) == '\n') {
      ++offset_;
      skip_indentation(indentation);
    }
    std::string value;
    while (!source_.has(offset_, "'''")) {
      if (source_.at_end(offset_)) source_.fail(begin, "a text in ''' is not closed", "close it with '''");
      const char c = text_[offset_++];
      if (c != '\r') value += c;
      if (c == '\n') skip_indentation(indentation);
    }
    offset_ += 3;
    if (value.ends_with('\n')) value.pop_back();
    return value;
  }

  // At most `limit` blanks; a negative limit means all of them.
  void skip_indentation(int limit) {
    while (limit != 0) {
      const char c = source_.at(offset_);
      if (c != ' ' && c != '\t' && c != '\r') return;
      ++offset_;
      --limit;
    }
  }

  // null, true, false or a number up to the next , } ] or comment; else a text up to the end of the line, all of that included.
  JsonValue parse_unquoted() {
    const std::size_t begin = offset_;
    const char first = text_[begin];
    if (is_punctuator(first)) {
      source_.fail(begin, fmt::format("{} stands where a value is expected", first),
                   unquoted_remedy("give the value; put a text that begins so in quotes"));
    }
    bool swallows = false;
    for (;; ++offset_) {
      const char c = source_.at(offset_);
      const bool line_ends = source_.at_end(offset_) || is_line_end(c);
      const bool may_end = line_ends || c == ',' || c == '}' || c == ']' || c == '#' || source_.has(offset_, "//") ||
                           source_.has(offset_, "/*");
      if (!may_end) continue;
      const std::string_view raw = text_.substr(begin, offset_ - begin);
      const std::string_view stripped = strip(raw);
      if (first == 'n' && stripped == "null") return JsonValue(nullptr);
      if (first == 't' && stripped == "true") return JsonValue(true);
      if (first == 'f' && stripped == "false") return JsonValue(false);
      if (std::optional<JsonValue> number = read_number(raw)) return *number;
      if (line_ends) {
        if (swallows) swallower_ = source_.position(begin);
        return JsonValue(std::string(stripped));
      }
      swallows = true;
    }
  }

  JsonSource& source_;
  std::string_view text_;
  std::size_t offset_;
  Position swallower_;  // the last unquoted text that holds a comma, a bracket or a comment
};

}  // namespace

JsonValue parse_hjson(JsonSource& source) {
  const std::size_t invalid = find_invalid_utf8(source.text());
  if (invalid != std::string_view::npos) {
    source.fail(invalid,
                fmt::format("byte 0x{:02x} is not valid UTF-8", static_cast<unsigned char>(source.text()[invalid])),
                "save the file as UTF-8");
  }
  return HjsonParser(source).parse_document();
}

}  // namespace athanor::base
