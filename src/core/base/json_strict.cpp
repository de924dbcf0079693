// RFC 8259 with Python's NaN, Infinity and -Infinity: one pass, recursive descent.
#include <fmt/format.h>

#include <array>

#include "core/base/json_source.h"

namespace athanor::base {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

class StrictParser {
 public:
  explicit StrictParser(JsonSource& source) : source_(source), text_(source.text()), offset_(source.start()) {}

  JsonValue parse_document() {
    skip_space();
    if (source_.at_end(offset_)) source_.fail(offset_, "there is no JSON: the text is empty", "give at least {}");
    JsonValue value = parse_value(0);
    skip_space();
    if (!source_.at_end(offset_)) {
      source_.fail(offset_, "text after the end of the JSON value",
                   "remove it, or look for a bracket closed too early");
    }
    return value;
  }

 private:
  void skip_space() {
    while (offset_ < text_.size()) {
      const char c = text_[offset_];
      if (c != ' ' && c != '\n' && c != '\t' && c != '\r') return;
      ++offset_;
    }
  }

  JsonValue parse_value(int depth) {
    const std::size_t begin = offset_;
    const Position position = source_.position(begin);
    JsonValue value;
    switch (source_.at(offset_)) {
      case '{':
        value = parse_object(depth);
        break;
      case '[':
        value = parse_array(depth);
        break;
      case '"':
        value = JsonValue(parse_string());
        break;
      default:
        value = parse_word_or_number();
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

  JsonValue parse_object(int depth) {
    check_depth(depth);
    const std::size_t begin = offset_++;
    JsonValue object = JsonValue::object();
    skip_space();
    if (source_.at(offset_) == '}') {
      ++offset_;
      return object;
    }
    while (true) {
      expect_key(begin);
      const Position key_position = source_.position(offset_);
      std::string key = parse_string();
      skip_space();
      if (source_.at(offset_) != ':') {
        source_.fail(offset_, fmt::format("key {} is not followed by a colon", quote_json(key)),
                     "write \"key\": value");
      }
      ++offset_;
      skip_space();
      object.add_member(std::move(key), parse_value(depth + 1), key_position);
      if (end_of_item(begin, '}')) return object;
    }
  }

  void expect_key(std::size_t begin) {
    const char c = source_.at(offset_);
    if (c == '"') return;
    if (source_.at_end(offset_)) fail_unclosed(begin, '}');
    if (c == '}') source_.fail(offset_, "a comma before the closing brace", "remove the comma");
    if (c == '/' || c == '#') source_.fail(offset_, "a comment, which strict JSON does not have", "remove the comment");
    source_.fail(offset_, "a key is expected here, in double quotes", "write \"key\": value");
  }

  JsonValue parse_array(int depth) {
    check_depth(depth);
    const std::size_t begin = offset_++;
    std::vector<JsonValue> items;
    skip_space();
    if (source_.at(offset_) == ']') {
      ++offset_;
      return JsonValue::array();
    }
    while (true) {
      if (source_.at(offset_) == ']') {
        source_.fail(offset_, "a comma before the closing bracket", "remove the comma");
      }
      if (source_.at_end(offset_)) fail_unclosed(begin, ']');
      items.push_back(parse_value(depth + 1));
      if (end_of_item(begin, ']')) return JsonValue::array(std::move(items));
    }
  }

  // After a value: true at the closing bracket, false after a comma.
  bool end_of_item(std::size_t begin, char closing) {
    skip_space();
    const char c = source_.at(offset_);
    if (c == ',') {
      ++offset_;
      skip_space();
      return false;
    }
    if (c == closing) {
      ++offset_;
      return true;
    }
    if (source_.at_end(offset_)) fail_unclosed(begin, closing);
    if (c == '/' || c == '#') source_.fail(offset_, "a comment, which strict JSON does not have", "remove the comment");
    source_.fail(offset_, fmt::format("a comma or {} is expected here", closing),
                 "put a comma between two values, or close the bracket");
  }

  [[noreturn]] void fail_unclosed(std::size_t begin, char closing) {
    const Position opened = source_.position(begin);
    source_.fail(text_.size(),
                 fmt::format("the text ends before the bracket opened at line {}, column {} is closed", opened.line,
                             opened.column),
                 fmt::format("close it with {}; if the file was cut short, make it again", closing));
  }

  std::string parse_string() {
    const std::size_t begin = offset_++;
    // Most texts hold neither escapes nor non-ASCII: find their end, then copy once.
    std::size_t plain = offset_;
    while (plain < text_.size() && is_plain(text_[plain])) ++plain;
    std::string value(text_.substr(offset_, plain - offset_));
    offset_ = plain;
    while (true) {
      if (source_.at_end(offset_)) fail_unterminated(begin);
      const char c = text_[offset_];
      if (c == '"') {
        ++offset_;
        return value;
      }
      if (c == '\\') {
        offset_ = source_.append_escape(value, offset_, "");
      } else if (static_cast<unsigned char>(c) >= 0x80) {
        offset_ = source_.append_non_ascii(value, offset_);
      } else if (static_cast<unsigned char>(c) < 0x20) {
        fail_control(begin, c);
      } else {
        plain = offset_;
        while (plain < text_.size() && is_plain(text_[plain])) ++plain;
        value.append(text_, offset_, plain - offset_);
        offset_ = plain;
      }
    }
  }

  static bool is_plain(char c) {
    static constexpr std::array<bool, 256> kPlain = [] {
      std::array<bool, 256> table{};
      for (std::size_t i = 0x20; i < 0x80; ++i) table[i] = i != '"' && i != '\\';
      return table;
    }();
    return kPlain[static_cast<unsigned char>(c)];
  }

  [[noreturn]] void fail_unterminated(std::size_t begin) {
    source_.fail(begin, "a text has no closing quote", "close it with \"; if the file was cut short, make it again");
  }

  [[noreturn]] void fail_control(std::size_t begin, char c) {
    if (c == '\n' || c == '\r') {
      source_.fail(begin, "a text has no closing quote on its line", "close it with \", or write \\n for a line break");
    }
    source_.fail(offset_, fmt::format("a text holds the control character 0x{:02x}", static_cast<unsigned char>(c)),
                 fmt::format("write it as {}", c == '\t' ? "\\t" : fmt::format("\\u{:04x}", static_cast<unsigned>(c))));
  }

  JsonValue parse_word_or_number() {
    const char c = source_.at(offset_);
    if (is_digit(c) || c == '-') return parse_number();
    std::size_t end = offset_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    const std::string word(text_.substr(offset_, end - offset_));
    const std::size_t begin = offset_;
    offset_ = end;
    if (word == "true") return JsonValue(true);
    if (word == "false") return JsonValue(false);
    if (word == "null") return JsonValue(nullptr);
    if (word == "NaN" || word == "Infinity") return JsonValue::parsed_number(word);
    fail_word(begin, word);
  }

  [[noreturn]] void fail_word(std::size_t begin, const std::string& word) {
    if (word == "True" || word == "False" || word == "None") {
      source_.fail(begin, fmt::format("{} is Python, not JSON", word),
                   fmt::format("write {}", word == "True"    ? "true"
                                           : word == "False" ? "false"
                                                             : "null"));
    }
    if (!word.empty()) {
      source_.fail(begin, fmt::format("{} is no JSON value", word), fmt::format("put a text in quotes: \"{}\"", word));
    }
    if (source_.at_end(begin)) source_.fail(begin, "the text ends where a value is expected", "give the value");
    const char c = source_.at(begin);
    if (c == '\'') source_.fail(begin, "a text in single quotes", "use double quotes");
    if (c == '/' || c == '#') source_.fail(begin, "a comment, which strict JSON does not have", "remove the comment");
    source_.fail(begin, "a value is expected here",
                 "give a number, a text in double quotes, true, false, null, [ or {");
  }

  JsonValue parse_number() {
    const std::size_t begin = offset_;
    if (source_.has(begin, "-Infinity")) {
      offset_ += 9;
      return JsonValue::parsed_number("-Infinity");
    }
    if (source_.at(offset_) == '-') ++offset_;
    const std::size_t integer_begin = offset_;
    skip_digits(begin);
    if (source_.at(integer_begin) == '0' && offset_ > integer_begin + 1) {
      source_.fail(begin, "a number begins with a superfluous zero", "remove the leading zero");
    }
    if (source_.at(offset_) == '.') {
      ++offset_;
      skip_digits(begin);
    }
    if (source_.at(offset_) == 'e' || source_.at(offset_) == 'E') {
      ++offset_;
      if (source_.at(offset_) == '+' || source_.at(offset_) == '-') ++offset_;
      skip_digits(begin);
    }
    if (is_word(source_.at(offset_))) fail_number(begin);
    return JsonValue::parsed_number(std::string(text_.substr(begin, offset_ - begin)));
  }

  void skip_digits(std::size_t begin) {
    if (!is_digit(source_.at(offset_))) fail_number(begin);
    while (is_digit(source_.at(offset_))) ++offset_;
  }

  [[noreturn]] void fail_number(std::size_t begin) {
    source_.fail(begin, "a number is not written as JSON writes it", "write digits as in 12, -0.5 or 1e-5");
  }

  JsonSource& source_;
  std::string_view text_;
  std::size_t offset_;
};

}  // namespace

JsonValue parse_strict_json(JsonSource& source) { return StrictParser(source).parse_document(); }

}  // namespace athanor::base
