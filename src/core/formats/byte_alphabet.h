// The alphabet of byte-level tokenizers: each byte has a visible character, so that a vocabulary of byte strings can be written as
// text.
//
// Source:  Radford et al. 2019 (GPT-2's bytes_to_unicode). Bytes 33-126, 161-172 and 174-255 stand for themselves; the other 68
//          follow in ascending order from U+0100.
// Threads: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace athanor::formats {

inline constexpr int kNotInAlphabet = -1;
inline constexpr char32_t kAlphabetEnd = 0x144;  // one past the last character of the alphabet

// The character of a byte.
char32_t alphabet_character(std::uint8_t byte);
// The byte of a character, or kNotInAlphabet.
int alphabet_byte(char32_t character);

// Turns a token as it is written in a vocabulary (valid UTF-8) into its bytes, appended to `out`. Gives false, and appends the
// text as it is, when a character is outside the alphabet (added tokens such as one with a space).
bool append_token_bytes(std::string_view token, std::string& out);
// The inverse: bytes as they are written in a vocabulary.
std::string alphabet_text(std::string_view bytes);

}  // namespace athanor::formats
