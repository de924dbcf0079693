// Unicode properties of code points, as the engines behind Hugging Face tokenizers know them: general categories of Oniguruma
// (Unicode 16), White_Space, Rust's char::is_numeric and the word characters of Rust's regex.
//
// Source:  tools/generate-unicode-tables asks tokenizers 0.23.3 about every code point. A library with another Unicode version
//          (PCRE2's own tables, for one) would cut newer letters elsewhere and so give other token ids.
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace athanor::formats {

struct CodePointRange {
  char32_t first;
  char32_t last;  // inclusive
  bool operator==(const CodePointRange&) const = default;
};

// General categories as far as a pre-tokenizer tells them apart; kOther is C* (control, format, private, unassigned).
enum class CategoryGroup : std::uint8_t {
  kOther,
  kLetter,
  kMark,
  kDecimalNumber,
  kLetterNumber,
  kOtherNumber,
  kConnectorPunctuation,
  kPunctuation,  // all of P but Pc
  kSymbol,
  kSeparator,
};

inline constexpr char32_t kMaxCodePoint = 0x10ffff;

CategoryGroup category_group(char32_t code_point);
bool is_letter(char32_t code_point);
bool is_white_space(char32_t code_point);
// Rust's char::is_numeric (N*, of a newer Unicode than Oniguruma's).
bool is_numeric(char32_t code_point);
// \w of Rust's regex: what "single_word" of an added token looks at.
bool is_word(char32_t code_point);

// Ascending disjoint ranges of a property named as in \p{...}: L, M, N, Nd, Nl, No, P, Pc, S, Z, C; nothing for any other name.
std::optional<std::vector<CodePointRange>> property_ranges(std::string_view name);
const std::vector<CodePointRange>& white_space_ranges();
std::vector<CodePointRange> numeric_ranges();
// Everything that is not in `ranges` (ascending, disjoint), surrogates left out.
std::vector<CodePointRange> complement(const std::vector<CodePointRange>& ranges);

namespace detail {
// Each entry is the first code point of a stretch << 4 | its CategoryGroup.
std::span<const std::uint32_t> category_starts();
std::span<const CodePointRange> extra_numeric();
std::span<const CodePointRange> extra_word();
}  // namespace detail

}  // namespace athanor::formats
