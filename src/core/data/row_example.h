// One row as a person reads it: decoded, with what is learnt between marks.
//
// Text: UTF-8 without control characters but newlines and the colours of the marks. Long stretches are shortened in their middle, so
//       that every border between learnt and not learnt is seen.
#pragma once

#include <span>
#include <string>

#include "core/data/data_report.h"

namespace athanor::data {

inline constexpr const char* kLearntBegin = "[[";
inline constexpr const char* kLearntEnd = "]]";
inline constexpr const char* kColourBegin = "\x1b[32m";
inline constexpr const char* kColourEnd = "\x1b[0m";

// Token ids where `tokenizer` is null. The first token of a sequence is never learnt: nothing stands before it.
std::string mark_row(const Dataset& dataset, std::span<const Piece> row, const formats::Tokenizer* tokenizer,
                     ExampleMarks marks);

}  // namespace athanor::data
