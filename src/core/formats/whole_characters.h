// Characters that byte-pair encoding always puts together before anything else touches their bytes, so that merging may start
// from their tokens: for Chinese text about a third of the work. The text must be valid UTF-8.
//
// A character c of several bytes qualifies when its bytes alone merge into one token, by rules of rank R at most, and
//   - every rule that joins a part of c to a neighbouring character has a rank above R, and
//   - every rule that joins c as a whole to something has a rank above R.
// Until c is whole, its own next rule has a rank of at most R and so goes before any rule that reaches across its borders; what
// is outside c merges by itself meanwhile. From the moment where every rule that applies has a rank above R, merging from bytes
// and merging from the token have the same symbols before them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/formats/bpe_vocabulary.h"
#include "core/formats/merge_table.h"

namespace athanor::formats {

// Token ids by code point below U+10000; -1 for characters that do not qualify.
std::vector<std::int32_t> find_whole_characters(const BpeVocabulary& vocabulary, const MergeTable& merges);

}  // namespace athanor::formats
