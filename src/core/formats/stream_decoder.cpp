#include "core/formats/stream_decoder.h"

#include <utility>

#include "core/base/unicode.h"

namespace athanor::formats {

namespace {

// Could more bytes make one whole character of `bytes`?
bool is_character_prefix(std::string_view bytes) {
  const auto lead = static_cast<unsigned char>(bytes[0]);
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  if (bytes.size() >= length) return false;
  // What may follow a lead byte is one range, which holds 0x80 or 0xbf; later bytes may be anything from 0x80.
  for (const char next : {'\x80', '\xbf'}) {
    std::string whole(bytes);
    whole += next;
    whole.resize(length, '\x80');
    if (base::find_invalid_utf8(whole) == std::string_view::npos) return true;
  }
  return false;
}

// Bytes at the end that belong to a character still to be completed.
std::size_t incomplete_bytes(std::string_view bytes) {
  for (std::size_t size = 1; size <= 3 && size <= bytes.size(); ++size) {
    if (is_character_prefix(bytes.substr(bytes.size() - size))) return size;
  }
  return 0;
}

}  // namespace

std::string StreamDecoder::push(std::int32_t id) {
  if (special_ == SpecialText::kSkip && tokenizer_.is_special(id)) return "";
  pending_ += tokenizer_.token_bytes(id);
  const std::size_t whole = pending_.size() - incomplete_bytes(pending_);
  std::string text = base::replace_invalid_utf8(std::string_view(pending_).substr(0, whole));
  pending_.erase(0, whole);
  return text;
}

std::string StreamDecoder::finish() { return base::replace_invalid_utf8(std::exchange(pending_, {})); }

}  // namespace athanor::formats
