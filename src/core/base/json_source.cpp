#include "core/base/json_source.h"

#include <fmt/format.h>

#include "core/base/unicode.h"

namespace athanor::base {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool is_high_surrogate(char32_t code_point) { return code_point >= 0xd800 && code_point < 0xdc00; }
bool is_low_surrogate(char32_t code_point) { return code_point >= 0xdc00 && code_point < 0xe000; }

}  // namespace

JsonSource::JsonSource(std::string_view text, const std::string& name) : text_(text), name_(name) {
  if (text_.starts_with(kByteOrderMark)) start_ = kByteOrderMark.size();
  offset_ = start_;
}

Position JsonSource::position(std::size_t offset) {
  if (offset < offset_) {
    offset_ = start_;
    position_ = {1, 1};
  }
  const std::size_t last = std::min(offset, text_.size());
  for (; offset_ < last; ++offset_) {
    const auto byte = static_cast<unsigned char>(text_[offset_]);
    if (byte == '\n' || (byte == '\r' && at(offset_ + 1) != '\n')) {
      ++position_.line;
      position_.column = 1;
    } else if ((byte & 0xc0) != 0x80) {
      ++position_.column;
    }
  }
  return position_;
}

std::string JsonSource::place(std::size_t offset) {
  const Position where = position(offset);
  return fmt::format("{}:{}:{}", name_, where.line, where.column);
}

void JsonSource::fail(std::size_t offset, std::string what, std::string remedy) {
  throw UserError(std::move(what), place(offset), std::move(remedy));
}

char32_t JsonSource::read_hex4(std::size_t offset) {
  char32_t code_point = 0;
  for (std::size_t i = offset; i < offset + 4; ++i) {
    const char digit = at(i);
    char32_t value = 0;
    if (digit >= '0' && digit <= '9') {
      value = static_cast<char32_t>(digit - '0');
    } else if ((digit >= 'a' && digit <= 'f') || (digit >= 'A' && digit <= 'F')) {
      value = static_cast<char32_t>((digit | 0x20) - 'a' + 10);
    } else {
      fail(offset - 2, "a \\u escape has fewer than four hexadecimal digits", "write four, as in \\u00e9");
    }
    code_point = code_point * 16 + value;
  }
  return code_point;
}

std::size_t JsonSource::append_escape(std::string& out, std::size_t offset, std::string_view extra_escapes) {
  const char escape = at(offset + 1);
  switch (escape) {
    case '"':
    case '\\':
    case '/':
      out += escape;
      return offset + 2;
    case 'b':
      out += '\b';
      return offset + 2;
    case 'f':
      out += '\f';
      return offset + 2;
    case 'n':
      out += '\n';
      return offset + 2;
    case 'r':
      out += '\r';
      return offset + 2;
    case 't':
      out += '\t';
      return offset + 2;
    case 'u':
      break;
    default:
      if (escape != '\0' && extra_escapes.find(escape) != std::string_view::npos) {
        out += escape;
        return offset + 2;
      }
      fail(offset, "a text has a backslash that begins no known escape",
           "write \\\\ for a backslash; the escapes are \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
  }
  char32_t code_point = read_hex4(offset + 2);
  std::size_t next = offset + 6;
  if (is_high_surrogate(code_point) && has(next, "\\u")) {
    const char32_t low = read_hex4(next + 2);
    if (is_low_surrogate(low)) {
      code_point = 0x10000 + ((code_point - 0xd800) << 10) + (low - 0xdc00);
      next += 6;
    }
  }
  if (is_high_surrogate(code_point) || is_low_surrogate(code_point)) {
    fail(offset, "a \\u escape is half of a surrogate pair and stands for no character",
         "write both halves, or the character itself in UTF-8");
  }
  append_utf8(out, code_point);
  return next;
}

std::size_t JsonSource::append_non_ascii(std::string& out, std::size_t offset) {
  std::size_t next = offset;
  const char32_t code_point = decode_utf8(text_, next);
  if (code_point == 0xfffd && next == offset + 1) {
    fail(offset, fmt::format("byte 0x{:02x} is not valid UTF-8", static_cast<unsigned char>(text_[offset])),
         "save the file as UTF-8");
  }
  out.append(text_, offset, next - offset);
  return next;
}

std::string quote_json(std::string_view text) {
  std::string quoted;
  append_json_string(quoted, text);
  return quoted;
}

JsonValue parse_json(std::string_view text, const std::string& name, JsonDialect dialect) {
  JsonSource source(text, name);
  return dialect == JsonDialect::kStrict ? parse_strict_json(source) : parse_hjson(source);
}

}  // namespace athanor::base
