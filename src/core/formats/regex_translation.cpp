#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/unicode.h"
#include "core/formats/regex.h"
#include "core/formats/unicode_category.h"

namespace athanor::formats {

namespace {

using base::Failure;
using Ranges = std::vector<CodePointRange>;

// Thrown inside the translation only; leaves it as a Failure.
struct Refusal {
  std::string reason;
};

[[noreturn]] void refuse(std::string reason) { throw Refusal{std::move(reason)}; }

void append_code_point(std::string& out, char32_t code_point) {
  out += fmt::format("\\x{{{:x}}}", static_cast<std::uint32_t>(code_point));
}

void append_ranges(std::string& out, const Ranges& ranges) {
  for (const CodePointRange& range : ranges) {
    append_code_point(out, range.first);
    if (range.last == range.first) continue;
    out += '-';
    append_code_point(out, range.last);
  }
}

Ranges merged(Ranges ranges) {
  std::ranges::sort(ranges, {}, &CodePointRange::first);
  Ranges out;
  for (const CodePointRange& range : ranges) {
    if (!out.empty() && range.first <= out.back().last + 1) {
      out.back().last = std::max(out.back().last, range.last);
    } else {
      out.push_back(range);
    }
  }
  return out;
}

class Translation {
 public:
  explicit Translation(std::string_view pattern) : pattern_(pattern) {}

  // The whole pattern as one set of code points, if it is one: [...] or an escape such as \p{L}.
  std::optional<Ranges> as_set() {
    Ranges ranges;
    bool negated = false;
    if (peek() == '[') {
      CharacterClass read = read_class();
      ranges = std::move(read.ranges);
      negated = read.negated;
    } else if (peek() == '\\') {
      if (const auto code_point = escape(ranges)) ranges = {{*code_point, *code_point}};
    }
    if (ranges.empty() || !at_end()) return std::nullopt;
    return negated ? complement(ranges) : ranges;
  }

  std::string run() {
    while (!at_end()) {
      const char c = peek();
      if (c == '[') {
        bracket_class();
      } else if (c == '(') {
        group();
      } else if (c == '\\') {
        escape_outside();
      } else if (c == '{') {
        interval();
      } else if (c == ']' || c == '}') {
        out_ += '\\';
        out_ += take();
      } else {
        out_ += take();
      }
    }
    return out_;
  }

 private:
  bool at_end() const { return offset_ >= pattern_.size(); }
  char peek(std::size_t ahead = 0) const {
    return offset_ + ahead < pattern_.size() ? pattern_[offset_ + ahead] : '\0';
  }
  char take() { return pattern_[offset_++]; }
  bool skip(std::string_view text) {
    if (!pattern_.substr(offset_).starts_with(text)) return false;
    offset_ += text.size();
    return true;
  }

  void group() {
    for (const std::string_view start : {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:", "(?i)", "(?-i:"}) {
      if (skip(start)) {
        out_ += start;
        return;
      }
    }
    if (peek(1) == '?' || peek(1) == '*') refuse(fmt::format("the group {}...", pattern_.substr(offset_, 4)));
    out_ += take();
  }

  // {m}, {m,}, {m,n}; a brace that opens none of these is a literal in both engines.
  void interval() {
    std::size_t end = offset_ + 1;
    const auto digits = [&] {
      const std::size_t start = end;
      while (end < pattern_.size() && pattern_[end] >= '0' && pattern_[end] <= '9') ++end;
      return end - start;
    };
    const std::size_t low = digits();
    if (end < pattern_.size() && pattern_[end] == ',') {
      ++end;
      if (digits() > 0 && low == 0) refuse("{,n} (Ruby reads it as {0,n})");
    }
    if (low == 0 || end >= pattern_.size() || pattern_[end] != '}') {
      out_ += "\\{";
      ++offset_;
      return;
    }
    ++end;
    if (end < pattern_.size() && pattern_[end] == '+') refuse("{m,n}+ (Ruby repeats it, PCRE2 makes it possessive)");
    out_ += pattern_.substr(offset_, end - offset_);
    offset_ = end;
  }

  void escape_outside() {
    Ranges ranges;
    if (const auto code_point = escape(ranges)) {
      append_code_point(out_, *code_point);
      return;
    }
    out_ += '[';
    append_ranges(out_, ranges);
    out_ += ']';
  }

  // Reads one escape: a code point, or nothing and the set in `ranges`.
  std::optional<char32_t> escape(Ranges& ranges) {
    ++offset_;
    if (at_end()) refuse("a pattern that ends in a backslash");
    const char c = take();
    switch (c) {
      case 'n':
        return U'\n';
      case 'r':
        return U'\r';
      case 't':
        return U'\t';
      case 'f':
        return U'\f';
      case 'v':
        return U'\v';
      case 'x':
        return hexadecimal(peek() == '{' ? 0 : 2);
      case 'u':
        return hexadecimal(4);
      case 's':
        ranges = white_space_ranges();
        return std::nullopt;
      case 'S':
        ranges = complement(white_space_ranges());
        return std::nullopt;
      case 'd':
        ranges = *property_ranges("Nd");
        return std::nullopt;
      case 'D':
        ranges = complement(*property_ranges("Nd"));
        return std::nullopt;
      case 'p':
        ranges = property(false);
        return std::nullopt;
      case 'P':
        ranges = property(true);
        return std::nullopt;
      default:
        break;
    }
    const bool is_alphanumeric = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (is_alphanumeric) refuse(fmt::format("\\{}", c));
    --offset_;
    return base::decode_utf8(pattern_, offset_);
  }

  char32_t hexadecimal(std::size_t num_digits) {
    const bool braced = num_digits == 0;
    if (braced) ++offset_;
    char32_t value = 0;
    std::size_t count = 0;
    for (; !at_end() && (braced || count < num_digits); ++count) {
      const char c = peek();
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) break;
      value = value * 16 + static_cast<char32_t>(digit);
      if (value > kMaxCodePoint) refuse("a code point beyond U+10FFFF");
      ++offset_;
    }
    if (count == 0 || (!braced && count < num_digits)) refuse("an escape with too few hexadecimal digits");
    if (braced && !skip("}")) refuse("an escape without its closing brace");
    return value;
  }

  Ranges property(bool negated) {
    if (!skip("{")) refuse("\\p without braces");
    if (skip("^")) negated = !negated;
    const std::size_t end = pattern_.find('}', offset_);
    if (end == std::string_view::npos) refuse("\\p{ without its closing brace");
    const std::string_view name = pattern_.substr(offset_, end - offset_);
    offset_ = end + 1;
    const auto ranges = property_ranges(name);
    if (!ranges) refuse(fmt::format("the property \\p{{{}}}", name));
    return negated ? complement(*ranges) : *ranges;
  }

  void bracket_class() {
    const auto [ranges, negated] = read_class();
    out_ += negated ? "[^" : "[";
    append_ranges(out_, ranges);
    out_ += ']';
  }

  struct CharacterClass {
    Ranges ranges;  // ascending, disjoint
    bool negated = false;
  };

  CharacterClass read_class() {
    CharacterClass out;
    ++offset_;
    out.negated = skip("^");
    if (peek() == ']') refuse("an empty character class");
    while (true) {
      if (at_end()) refuse("a character class without its closing bracket");
      if (skip("]")) break;
      class_item(out.ranges);
    }
    out.ranges = merged(std::move(out.ranges));
    return out;
  }

  void class_item(Ranges& out) {
    Ranges set;
    const auto first = class_character(set);
    if (!first) {
      out.insert(out.end(), set.begin(), set.end());
      return;
    }
    out.push_back({*first, *first});
    if (peek() != '-' || peek(1) == ']') return;
    ++offset_;
    const auto last = class_character(set);
    if (!last || *last < *first) refuse("a malformed range in a character class");
    out.back().last = *last;
  }

  std::optional<char32_t> class_character(Ranges& set) {
    if (at_end()) refuse("a character class without its closing bracket");
    if (peek() == '[') refuse("a class inside a character class");
    if (peek() == '&' && peek(1) == '&') refuse("&& in a character class");
    if (peek() == '\\') return escape(set);
    return base::decode_utf8(pattern_, offset_);
  }

  std::string_view pattern_;
  std::size_t offset_ = 0;
  std::string out_;
};

}  // namespace

std::optional<std::vector<CodePointRange>> regex_as_set(std::string_view oniguruma_pattern) {
  try {
    return Translation(oniguruma_pattern).as_set();
  } catch (const Refusal&) {
    return std::nullopt;
  }
}

base::Result<std::string, std::string> translate_regex(std::string_view oniguruma_pattern) {
  try {
    return Translation(oniguruma_pattern).run();
  } catch (Refusal& refusal) {
    return Failure{std::move(refusal.reason)};
  }
}

}  // namespace athanor::formats
