// Token ids to text while they are being generated: a token may end in the middle of a character, which is then held back until
// the rest has come.
//
// Gives:   the pushed texts and finish() together are exactly Tokenizer::decode of all ids.
// Threads: confined to one thread.
#pragma once

#include <cstdint>
#include <string>

#include "core/formats/tokenizer.h"

namespace athanor::formats {

class StreamDecoder {
 public:
  explicit StreamDecoder(Tokenizer tokenizer, SpecialText special = SpecialText::kSkip)
      : tokenizer_(std::move(tokenizer)), special_(special) {}

  // What can be shown now that `id` has come; may be empty.
  std::string push(std::int32_t id);
  // What is left at the end: U+FFFD for a character that never was completed. The decoder is then fresh again.
  std::string finish();

 private:
  Tokenizer tokenizer_;
  SpecialText special_;
  std::string pending_;  // at most three bytes, a prefix of one character
};

}  // namespace athanor::formats
