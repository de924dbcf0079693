// tokenizer.json, the file of Hugging Face tokenizers, as far as byte-level BPE goes. What is not supported is refused by name,
// everything at once.
//
// Source:  tokenizers 0.23.3. docs/reference/tokenizers.md lists what is supported.
// Cost:    vocabulary and merges, nearly the whole file, are read directly; only the rest becomes a JSON tree.
// Fails:   UserError with file:line:column.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/formats/added_tokens.h"
#include "core/formats/bpe_vocabulary.h"
#include "core/formats/merge_table.h"
#include "core/formats/pre_tokenizer.h"

namespace athanor::formats {

// The big members of "model", and the file without them.
struct BpeTables {
  std::string skeleton;  // the text with an empty vocab and empty merges; lines stay where they were
  bool has_model = false;
  BpeVocabulary vocabulary;
  MergeTable merges;
};
BpeTables read_bpe_tables(std::string_view text, const std::string& name);

struct TokenizerFile {
  BpeVocabulary vocabulary;
  MergeTable merges;
  bool ignore_merges = false;
  bool normalize_nfc = false;
  std::vector<AddedToken> added_tokens;  // ascending by id
  std::unique_ptr<PreTokenizer> pre_tokenizer;
  std::vector<std::int32_t> prefix_ids;  // what the post-processor puts before a text
  std::vector<std::int32_t> suffix_ids;  // and after it
  std::vector<std::string> notes;        // what is in the file and is left aside on purpose, for a person
};

// `name` is the path, for messages.
TokenizerFile parse_tokenizer_json(std::string_view text, const std::string& name,
                                   PreTokenizerEngine engine = PreTokenizerEngine::kFastest);

}  // namespace athanor::formats
