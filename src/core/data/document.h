// One training example as tokens, before it is cut or packed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace athanor::data {

// What a document was made from decides what may happen to one that is longer than a row: a whole file is split, text is split when
// packed, the others are cut at the end. The values are on disk.
enum class DocumentKind : std::uint32_t { kText = 0, kConversation = 1, kTokens = 2, kFile = 3 };

struct Document {
  std::vector<std::int32_t> tokens;  // [num_tokens]
  std::vector<std::int32_t>
      labels;  // [num_tokens] aligned with tokens (not shifted); kNoTarget where nothing is learnt
  DocumentKind kind = DocumentKind::kText;
};

}  // namespace athanor::data
