#include "core/data/text_documents.h"

namespace athanor::data {

namespace {

constexpr std::string_view kSpaces = " \t\r\n\f\v";

bool is_blank(std::string_view text) { return text.find_first_not_of(kSpaces) == std::string_view::npos; }

bool is_separator(std::string_view line, std::string_view separator) {
  if (separator == kBlankLine) return is_blank(line);
  return line.starts_with(separator) && is_blank(line.substr(separator.size()));
}

// The end of the line that holds `at`: behind its line break.
std::size_t line_end(std::string_view text, std::size_t at) {
  const std::size_t newline = text.find('\n', at);
  return newline == std::string_view::npos ? text.size() : newline + 1;
}

std::string_view without_line_break(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::size_t next_document_border(std::string_view text, std::size_t from, std::string_view separator) {
  if (from > 0 && from < text.size() && text[from - 1] != '\n') from = line_end(text, from);
  while (from < text.size()) {
    const std::size_t end = line_end(text, from);
    if (is_separator(text.substr(from, end - from), separator)) return end;
    from = end;
  }
  return text.size();
}

void for_each_document(std::string_view text, std::string_view separator, std::uint32_t first_line,
                       const std::function<void(std::string_view document, std::uint32_t line)>& take) {
  if (separator.empty()) {
    if (!text.empty()) take(text, first_line);
    return;
  }
  std::size_t begin = 0;
  std::uint32_t begin_line = first_line;
  std::uint32_t line = first_line;
  for (std::size_t at = 0; at < text.size(); ++line) {
    const std::size_t end = line_end(text, at);
    if (is_separator(text.substr(at, end - at), separator)) {
      if (!is_blank(text.substr(begin, at - begin)))
        take(without_line_break(text.substr(begin, at - begin)), begin_line);
      begin = end;
      begin_line = line + 1;
    }
    at = end;
  }
  if (!is_blank(text.substr(begin))) take(without_line_break(text.substr(begin)), begin_line);
}

}  // namespace athanor::data
