#include "core/formats/byte_alphabet.h"

#include "core/base/unicode.h"

namespace athanor::formats {

namespace {

struct Alphabet {
  std::array<char32_t, 256> characters{};
  std::array<std::int16_t, kAlphabetEnd> bytes{};

  constexpr Alphabet() {
    for (auto& byte : bytes) byte = kNotInAlphabet;
    char32_t next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      const bool is_visible = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
      const char32_t character = is_visible ? static_cast<char32_t>(byte) : next++;
      characters[byte] = character;
      bytes[character] = static_cast<std::int16_t>(byte);
    }
  }
};

constexpr Alphabet kAlphabet;

}  // namespace

char32_t alphabet_character(std::uint8_t byte) { return kAlphabet.characters[byte]; }

int alphabet_byte(char32_t character) { return character < kAlphabetEnd ? kAlphabet.bytes[character] : kNotInAlphabet; }

bool append_token_bytes(std::string_view token, std::string& out) {
  const std::size_t before = out.size();
  for (std::size_t offset = 0; offset < token.size();) {
    const auto lead = static_cast<unsigned char>(token[offset]);
    // All of the alphabet takes one or two bytes of UTF-8; this is where loading a vocabulary spends its time.
    char32_t character = lead;
    if (lead < 0x80) {
      ++offset;
    } else if (lead < 0xe0 && offset + 1 < token.size()) {
      character = (lead & 0x1fu) << 6 | (static_cast<unsigned char>(token[offset + 1]) & 0x3fu);
      offset += 2;
    } else {
      character = base::decode_utf8(token, offset);
    }
    const int byte = alphabet_byte(character);
    if (byte == kNotInAlphabet) {
      out.resize(before);
      out += token;
      return false;
    }
    out += static_cast<char>(byte);
  }
  return true;
}

std::string alphabet_text(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) base::append_utf8(out, alphabet_character(static_cast<std::uint8_t>(byte)));
  return out;
}

}  // namespace athanor::formats
