#include "core/base/unicode.h"

#include <cstring>

namespace athanor::base {

namespace {

constexpr char32_t kReplacement = 0xfffd;
constexpr std::string_view kReplacementBytes = "\xef\xbf\xbd";

// What stands at one place of a byte string: a whole code point, or a malformed prefix of `length` bytes.
struct Sequence {
  char32_t code_point;
  std::size_t length;
  bool valid;
};

// Source: Unicode 15, table 3-7 (well-formed UTF-8): the second byte's range depends on the first, later ones are 80..BF. A
// malformed prefix is as long as it agrees with that table ("maximal subpart", section 3.9).
Sequence sequence_at(std::string_view text, std::size_t offset) {
  const auto byte_at = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte_at(offset);
  if (lead < 0x80) return {lead, 1, true};
  if (lead < 0xc2 || lead > 0xf4) return {kReplacement, 1, false};
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  unsigned char low = 0x80;
  unsigned char high = 0xbf;
  if (lead == 0xe0) low = 0xa0;
  if (lead == 0xed) high = 0x9f;
  if (lead == 0xf0) low = 0x90;
  if (lead == 0xf4) high = 0x8f;
  char32_t code_point = lead & (0xff >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (offset + i >= text.size()) return {kReplacement, i, false};
    const unsigned char byte = byte_at(offset + i);
    if (byte < low || byte > high) return {kReplacement, i, false};
    code_point = code_point << 6 | (byte & 0x3f);
    low = 0x80;
    high = 0xbf;
  }
  return {code_point, length, true};
}

// The first byte at or after `offset` that is not ASCII, eight at a time.
std::size_t skip_ascii(std::string_view text, std::size_t offset) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080u;
  while (offset + sizeof(std::uint64_t) <= text.size()) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + offset, sizeof(word));
    if ((word & kHighBits) != 0) break;
    offset += sizeof(word);
  }
  while (offset < text.size() && static_cast<unsigned char>(text[offset]) < 0x80) ++offset;
  return offset;
}

}  // namespace

void append_utf8(std::string& out, char32_t code_point) {
  const auto continuation = [](char32_t bits) { return static_cast<char>(0x80 | (bits & 0x3f)); };
  if (code_point > 0x10ffff || (code_point >= 0xd800 && code_point <= 0xdfff)) code_point = kReplacement;
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    out += static_cast<char>(0xc0 | code_point >> 6);
    out += continuation(code_point);
  } else if (code_point < 0x10000) {
    out += static_cast<char>(0xe0 | code_point >> 12);
    out += continuation(code_point >> 6);
    out += continuation(code_point);
  } else {
    out += static_cast<char>(0xf0 | code_point >> 18);
    out += continuation(code_point >> 12);
    out += continuation(code_point >> 6);
    out += continuation(code_point);
  }
}

char32_t decode_utf8(std::string_view text, std::size_t& offset) {
  const Sequence sequence = sequence_at(text, offset);
  offset += sequence.valid ? sequence.length : 1;
  return sequence.code_point;
}

std::size_t find_invalid_utf8(std::string_view text) {
  std::size_t offset = 0;
  while ((offset = skip_ascii(text, offset)) < text.size()) {
    const Sequence sequence = sequence_at(text, offset);
    if (!sequence.valid) return offset;
    offset += sequence.length;
  }
  return std::string_view::npos;
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::size_t copied = 0;
  std::size_t offset = 0;
  while ((offset = skip_ascii(text, offset)) < text.size()) {
    const Sequence sequence = sequence_at(text, offset);
    if (!sequence.valid) {
      out.append(text, copied, offset - copied);
      out += kReplacementBytes;
      copied = offset + sequence.length;
    }
    offset += sequence.length;
  }
  out.append(text, copied);
  return out;
}

std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t offset = 0; offset < text.size(); ++count) decode_utf8(text, offset);
  return count;
}

}  // namespace athanor::base
