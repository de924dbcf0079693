// Normalization form C, as Hugging Face tokenizers applies it for a tokenizer.json with an NFC normalizer (Qwen2 and with it
// R1-Distill-Qwen).
//
// Source:  Unicode Standard Annex 15. The tables follow tokenizers 0.23.3 (tools/generate-unicode-tables): marks that its
//          older Unicode does not know are not reordered.
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace athanor::formats {

// True if the text is in form C for certain, found by a look at its bytes alone; false means "normalize to find out".
bool is_surely_nfc(std::string_view text);
// `text` must be valid UTF-8.
std::string normalize_nfc(std::string_view text);

namespace detail {

struct CombiningRange {
  char32_t first;
  char32_t last;
  std::uint8_t combining_class;
};

// Pairs of code point and its single canonical decomposition; ascending.
std::span<const std::uint32_t> decomposition_singles();
// Triples of code point | 1 << 31 if the pair is composed again, first, second; ascending by code point.
std::span<const std::uint32_t> decomposition_pairs();
std::span<const CombiningRange> combining_classes();

}  // namespace detail

}  // namespace athanor::formats
