// A text file that holds several documents, one after the other with a line between them.
//
// Separator: the text of that line (spaces at its end do not count), or "blank_line": any line of white space. Empty: the file is one
//            document. What a separator stands between is given without the line break in front of it; empty documents are left out.
// Threads:   pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace athanor::data {

inline constexpr std::string_view kBlankLine = "blank_line";

// The first place behind a separator line that begins at `from` or later; the end of the text when there is none. `from` may be in the
// middle of a line: that line is none.
std::size_t next_document_border(std::string_view text, std::size_t from, std::string_view separator);

// Calls `take` with each document and the line it begins in, counted from `first_line`.
void for_each_document(std::string_view text, std::string_view separator, std::uint32_t first_line,
                       const std::function<void(std::string_view document, std::uint32_t line)>& take);

}  // namespace athanor::data
