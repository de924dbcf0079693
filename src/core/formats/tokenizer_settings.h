// What tokenizer_config.json and special_tokens_map.json say beside a tokenizer.json: the special tokens by their role, whether
// BOS and EOS are put around a text, the longest input, the chat template.
//
// Source:  transformers 5.23 (PreTrainedTokenizerBase, TokenizersBackend). special_tokens_map.json counts only where
//          tokenizer_config.json has no added_tokens_decoder; chat_template.jinja wins over the key.
// Fails:   UserError with file:line:column.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/formats/added_tokens.h"

namespace athanor::formats {

struct TokenizerSettings {
  std::optional<std::string> bos_token;
  std::optional<std::string> eos_token;
  std::optional<std::string> pad_token;
  std::optional<bool> add_bos_token;  // absent: the post-processor of tokenizer.json decides
  std::optional<bool> add_eos_token;
  std::optional<std::int64_t> model_max_length;  // absent also where the file gives a number of no meaning (1e30)
  std::string chat_template;                     // Jinja text, empty without one
  std::string tokenizer_class;
  std::vector<AddedToken> added_tokens;  // of added_tokens_decoder
  std::string config_path;               // of tokenizer_config.json, empty without one; for messages
};

// Reads what there is in `folder`; all of it may be absent.
TokenizerSettings read_tokenizer_settings(const std::string& folder);

}  // namespace athanor::formats
