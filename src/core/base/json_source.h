// The text that a JSON parser walks over: positions, failures, and the escapes that both dialects share. Internal to json_*.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/json.h"

namespace athanor::base {

// Deeper nesting than this is refused, so that neither parsing nor destruction can exhaust the stack.
inline constexpr int kMaximumJsonDepth = 500;

class JsonSource {
 public:
  JsonSource(std::string_view text, const std::string& name);

  std::size_t size() const { return text_.size(); }
  std::string_view text() const { return text_; }
  // First byte after a byte order mark.
  std::size_t start() const { return start_; }
  // The byte at `offset`; '\0' at the end of the text (at_end tells them apart).
  char at(std::size_t offset) const { return offset < text_.size() ? text_[offset] : '\0'; }
  bool at_end(std::size_t offset) const { return offset >= text_.size(); }
  bool has(std::size_t offset, std::string_view expected) const { return text_.substr(offset).starts_with(expected); }

  // Line and column of a byte. Linear in total as long as offsets grow from call to call; a smaller one starts over.
  Position position(std::size_t offset);
  std::string place(std::size_t offset);
  [[noreturn]] void fail(std::size_t offset, std::string what, std::string remedy);

  // Appends what the escape at `offset` (its backslash) stands for; gives the offset behind it.
  std::size_t append_escape(std::string& out, std::size_t offset, std::string_view extra_escapes);
  // Appends the character at `offset`, whose first byte is not ASCII; gives the offset behind it.
  std::size_t append_non_ascii(std::string& out, std::size_t offset);

 private:
  char32_t read_hex4(std::size_t offset);

  std::string_view text_;
  std::string name_;
  std::size_t start_ = 0;
  std::size_t offset_ = 0;  // what position_ belongs to
  Position position_{1, 1};
};

// A text in double quotes with escapes, for messages: what is shown stays on one line.
std::string quote_json(std::string_view text);

// The two dialects; `source` names the text in messages.
JsonValue parse_strict_json(JsonSource& source);
JsonValue parse_hjson(JsonSource& source);

}  // namespace athanor::base
