// UTF-8: decoding, validation, display width.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace athanor::base {

// Appends one code point.
void append_utf8(std::string& out, char32_t code_point);
// Decodes the code point at `offset` and advances it. A malformed byte gives U+FFFD and advances by one.
char32_t decode_utf8(std::string_view text, std::size_t& offset);
// Byte offset of the first malformed sequence, or npos.
std::size_t find_invalid_utf8(std::string_view text);
// Replaces each malformed sequence by U+FFFD (one per maximal invalid prefix, as Python's errors="replace" does).
std::string replace_invalid_utf8(std::string_view text);
// Columns a terminal uses (wide characters 2, combining 0).
int display_width(std::string_view text);
// Number of code points.
std::size_t count_code_points(std::string_view text);

}  // namespace athanor::base
