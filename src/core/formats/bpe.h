// Byte-pair encoding of one piece of text: the neighbours whose merge rule has the lowest rank are joined, the leftmost first,
// until no rule applies.
//
// Source:  Sennrich et al. 2016; the same ids as the BPE model of Hugging Face tokenizers 0.23.3 without dropout.
// Cost:    pieces up to kShortPiece symbols in a few vector instructions per merge and without allocation; longer ones in
//          O(n log n).
// Threads: BpeModel is immutable; BpeScratch is confined to one thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/formats/bpe_vocabulary.h"
#include "core/formats/merge_table.h"

namespace athanor::formats {

// Working memory of encode() for long pieces; it grows to the longest one and stays.
struct BpeScratch {
  struct Symbol {
    std::int32_t id;
    std::uint32_t previous;
    std::uint32_t next;
  };
  std::vector<Symbol> symbols;
  std::vector<std::uint64_t> candidates;  // heap of rank << 32 | place
};

class BpeModel {
 public:
  static constexpr std::size_t kShortPiece = 64;
  static constexpr std::int32_t kNoToken = -1;

  BpeModel() { byte_ids_.fill(kNoToken); }
  BpeModel(BpeVocabulary vocabulary, MergeTable merges, bool ignore_merges);

  // Appends the ids of `piece` (valid UTF-8) to `out`. Gives the first byte that has no token, or -1; nothing is appended then.
  int encode(std::string_view piece, BpeScratch& scratch, std::vector<std::int32_t>& out) const;

  const BpeVocabulary& vocabulary() const { return vocabulary_; }
  std::int32_t byte_id(std::uint8_t byte) const { return byte_ids_[byte]; }
  // The token of a character of two or three bytes that merging always makes first (whole_characters.h), or kNoToken.
  std::int32_t whole_character(char32_t code_point) const { return whole_characters_[code_point]; }

 private:
  // What merging starts from at `offset`: a whole character's token or a byte's; moves on behind it.
  std::int32_t first_symbol(std::string_view piece, std::size_t& offset) const;
  void merge_short(std::span<std::int32_t> symbols, std::vector<std::int32_t>& out) const;
  void merge_long(BpeScratch& scratch, std::vector<std::int32_t>& out) const;

  BpeVocabulary vocabulary_;
  MergeTable merges_;
  bool ignore_merges_ = false;  // a piece that is a token as a whole is that token, whatever the merges say
  std::array<std::int32_t, 256> byte_ids_{};
  std::vector<std::int32_t> whole_characters_;  // by code point below U+10000
};

}  // namespace athanor::formats
