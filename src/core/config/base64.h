// Base64 (RFC 4648) as Python's urlsafe_b64decode reads it: both alphabets.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace athanor::config {

// The decoded bytes; nothing when a character is in neither alphabet or the length is impossible. Padding may miss.
std::optional<std::string> decode_base64_url(std::string_view text);

}  // namespace athanor::config
