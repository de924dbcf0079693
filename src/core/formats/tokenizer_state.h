// What a Tokenizer holds. Internal to tokenizer*.cpp and token_encoder.cpp.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/formats/bpe.h"
#include "core/formats/tokenizer.h"
#include "core/formats/tokenizer_json.h"
#include "core/formats/tokenizer_settings.h"

namespace athanor::formats {

struct TokenizerSource {
  std::string name;                                        // path of tokenizer.json, for messages
  std::vector<std::pair<std::string, std::string>> files;  // the first is tokenizer.json
  TokenizerSettings settings;
};

struct Tokenizer::State {
  explicit State(TokenizerSource source);

  std::string name;
  std::vector<std::pair<std::string, std::string>> files;
  BpeModel model;
  std::unique_ptr<PreTokenizer> pre_tokenizer;
  bool normalize_nfc = false;

  std::vector<AddedToken> added_tokens;  // ascending by id
  std::vector<std::string> added_bytes;  // of each of them, as decoding shows it
  AddedTokenMatcher raw_matcher;         // tokens with "normalized": false
  AddedTokenMatcher normalized_matcher;

  std::int32_t vocab_size = 0;
  std::optional<std::int32_t> bos_id;
  std::optional<std::int32_t> eos_id;
  std::optional<std::int32_t> pad_id;
  std::vector<std::int32_t> prefix_ids;
  std::vector<std::int32_t> suffix_ids;
  std::optional<std::int64_t> model_max_length;
  std::string chat_template;
  std::string fingerprint;
  std::vector<std::string> notes;

  // Index in added_tokens, or -1.
  std::ptrdiff_t find_added(std::int32_t id) const;
  std::optional<std::int32_t> token_id(std::string_view token_text) const;

 private:
  void merge_added_tokens(const TokenizerSettings& settings);
  void resolve_special_tokens(const TokenizerSettings& settings);
  std::optional<std::int32_t> resolve_role(const char* role, const std::optional<std::string>& token,
                                           const std::string& config_path, base::Problems& problems) const;
  void make_fingerprint();
};

// The files of the byte tokenizer and its settings.
TokenizerSource byte_tokenizer_source();

}  // namespace athanor::formats
