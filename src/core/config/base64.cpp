#include "core/config/base64.h"

#include <cstdint>

namespace athanor::config {
namespace {

int digit_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '-' || c == '+') return 62;
  if (c == '_' || c == '/') return 63;
  return -1;
}

}  // namespace

std::optional<std::string> decode_base64_url(std::string_view text) {
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  if (text.empty() || text.size() % 4 == 1) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() * 3 / 4);
  std::uint32_t buffer = 0;
  int num_bits = 0;
  for (const char c : text) {
    const int value = digit_value(c);
    if (value < 0) return std::nullopt;
    buffer = buffer << 6 | static_cast<std::uint32_t>(value);
    num_bits += 6;
    if (num_bits < 8) continue;
    num_bits -= 8;
    bytes += static_cast<char>(buffer >> num_bits & 0xff);
  }
  return bytes;
}

}  // namespace athanor::config
