// A small class for every code point, for scanners that look at each character of a text once.
//
// Cost:    1.1 MB a table, of which a text touches only the lines of its own scripts.
// Threads: immutable once painted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/formats/unicode_category.h"

namespace athanor::formats {

class CodePointClasses {
 public:
  // Every code point starts in class 0.
  CodePointClasses() : classes_(kMaxCodePoint + 1, 0) {}

  void paint(const std::vector<CodePointRange>& ranges, std::uint8_t value) {
    for (const CodePointRange& range : ranges) {
      std::memset(classes_.data() + range.first, value, range.last - range.first + 1);
    }
  }
  // Within `ranges`, what is in class `from` goes to class `to`.
  void replace(const std::vector<CodePointRange>& ranges, std::uint8_t from, std::uint8_t to) {
    for (const CodePointRange& range : ranges) {
      for (char32_t c = range.first; c <= range.last; ++c) {
        if (classes_[c] == from) classes_[c] = to;
      }
    }
  }
  void add_flag(const std::vector<CodePointRange>& ranges, std::uint8_t flag) {
    for (const CodePointRange& range : ranges) {
      for (char32_t c = range.first; c <= range.last; ++c) classes_[c] |= flag;
    }
  }
  std::uint8_t of(char32_t code_point) const { return classes_[code_point]; }

  struct Character {
    std::uint8_t value;   // its class
    std::uint8_t length;  // bytes
  };
  // The character of valid UTF-8 at `p`.
  Character at(const unsigned char* p) const {
    const unsigned lead = p[0];
    if (lead < 0x80) return {classes_[lead], 1};
    if (lead < 0xe0) return {classes_[(lead & 0x1f) << 6 | (p[1] & 0x3fu)], 2};
    if (lead < 0xf0) return {classes_[(lead & 0x0f) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu)], 3};
    return {classes_[(lead & 0x07) << 18 | (p[1] & 0x3fu) << 12 | (p[2] & 0x3fu) << 6 | (p[3] & 0x3fu)], 4};
  }

 private:
  std::vector<std::uint8_t> classes_;
};

// A text with its classes; every function takes and gives pointers into it.
struct ClassifiedText {
  const CodePointClasses& classes;
  const unsigned char* end;

  // The class at `p`, or `at_end` at the end.
  std::uint8_t class_at(const unsigned char* p, std::uint8_t at_end) const {
    return p < end ? classes.at(p).value : at_end;
  }
  // The end of the run of class `value` that starts at `p`, at most `limit` characters long.
  const unsigned char* run_end(const unsigned char* p, std::uint8_t value, std::size_t limit = SIZE_MAX) const {
    for (; p < end && limit > 0; --limit) {
      const auto c = classes.at(p);
      if (c.value != value) break;
      p += c.length;
    }
    return p;
  }
};

}  // namespace athanor::formats
