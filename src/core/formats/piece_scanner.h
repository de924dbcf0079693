// The pre-tokenizers of the supported model families as hand-written scanners: they cut a text in one pass where the regular
// expressions of tokenizer.json would go over it once per stage. Each gives exactly the pieces of the stages it stands for
// (tests/unit/core/formats/pre_tokenizer_test.cpp compares them on random Unicode text).
//
// Threads: immutable.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/formats/unicode_category.h"

namespace athanor::formats {

// Where a scan stands in its text; start with a fresh one for each text.
struct ScanPosition {
  std::size_t offset = 0;
  std::size_t outer_end = 0;  // end of the piece that later stages are still cutting
};

class PieceScanner {
 public:
  virtual ~PieceScanner() = default;
  // Writes the ends of the next pieces (pieces lie end to end) and gives how many; 0 at the end of the text.
  // `text` must be valid UTF-8.
  virtual std::size_t scan(std::string_view text, ScanPosition& position, std::span<std::size_t> ends) const = 0;
};

// The whole text as one piece.
std::unique_ptr<PieceScanner> make_whole_scanner();

// DeepSeek-V3, R1, V3.1, V4: up to three digits; runs of `han`; then words, punctuation and white space in one expression.
// Nothing when `han` has ASCII, white space or numbers, which this scanner does not handle.
std::unique_ptr<PieceScanner> make_deepseek_v3_scanner(const std::vector<CodePointRange>& han);

// DeepSeek LLM, MoE, V2 and Coder: single line breaks; \s?WORD+; \s?PUNCTUATION+; optionally \s+$; HAN+; single digits.
struct StagedScannerSets {
  std::vector<CodePointRange> word;
  std::vector<CodePointRange> punctuation;
  std::vector<CodePointRange> han;
  bool isolate_trailing_space = false;  // the stage \s+$
};
// Nothing when the sets overlap in a way that this scanner does not handle.
std::unique_ptr<PieceScanner> make_staged_scanner(const StagedScannerSets& sets);

// Llama 3 (digits in threes) and Qwen2 (single digits).
std::unique_ptr<PieceScanner> make_llama3_scanner(std::size_t max_digits);

// GPT-2: a ByteLevel stage with its own expression.
std::unique_ptr<PieceScanner> make_gpt2_scanner();

}  // namespace athanor::formats
