// Text to token ids and back, by the tokenizer.json of a Hugging Face model folder, or by the built-in byte tokenizer.
//
// Source:  Hugging Face tokenizers 0.23.3; the same ids and texts (tests/parity/tokenizer). docs/reference/tokenizers.md says
//          what is supported and how special tokens are chosen.
// Text:    UTF-8. A malformed sequence is read as U+FFFD, as Python's errors="replace" does.
// Threads: Tokenizer is immutable and cheap to copy; TokenEncoder is confined to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/formats/added_tokens.h"

namespace athanor::formats {

// Whether encoding puts around the text what the tokenizer puts there (BOS, EOS).
enum class SpecialTokens { kNone, kAdd };
// Whether decoding shows special tokens.
enum class SpecialText { kKeep, kSkip };

class Tokenizer {
 public:
  // `path`: a folder with tokenizer.json (and tokenizer_config.json, special_tokens_map.json, chat_template.jinja), that file
  // itself, or "bytes". Fails: UserError with the place, when something is missing, torn or not supported.
  static Tokenizer load(const std::string& path);
  // 256 bytes, BOS, EOS and padding: for models made from scratch. save() writes it for transformers too.
  static Tokenizer bytes();

  // Fails: UserError when the vocabulary lacks a byte of the text.
  std::vector<std::int32_t> encode(std::string_view text, SpecialTokens special = SpecialTokens::kNone) const;
  // Ids without a token (padding rows of an embedding) give nothing, as in the reference.
  std::string decode(std::span<const std::int32_t> ids, SpecialText special = SpecialText::kKeep) const;

  // The bytes a token stands for, which may be part of a character only; empty for an id without a token.
  std::string_view token_bytes(std::int32_t id) const;
  // The token as the vocabulary writes it (" the" is U+0120 "the"); empty for an id without a token.
  std::string token_text(std::int32_t id) const;
  bool has_token(std::int32_t id) const;
  bool is_special(std::int32_t id) const;
  // The id of a token written as in the vocabulary or of an added token.
  std::optional<std::int32_t> token_id(std::string_view token_text) const;

  // Ids are below this; what an embedding needs at least.
  std::int32_t vocab_size() const;
  std::size_t num_tokens() const;
  std::optional<std::int32_t> bos_id() const;
  std::optional<std::int32_t> eos_id() const;
  std::optional<std::int32_t> pad_id() const;
  // What SpecialTokens::kAdd puts before and after a text.
  const std::vector<std::int32_t>& prefix_ids() const;
  const std::vector<std::int32_t>& suffix_ids() const;
  const std::vector<AddedToken>& added_tokens() const;  // ascending by id
  std::optional<std::int64_t> model_max_length() const;
  const std::string& chat_template() const;  // Jinja text; empty without one

  // Changes with anything that changes ids: for cache keys. 32 hexadecimal digits.
  const std::string& fingerprint() const;
  // What was left aside on purpose, for a person to read once.
  const std::vector<std::string>& notes() const;
  // The files that make this tokenizer, by name: what a saved model folder needs.
  std::vector<std::pair<std::string, std::string>> files() const;
  // Writes files() into `folder`, which is made if needed.
  void save(const std::string& folder) const;

 private:
  friend class TokenEncoder;
  struct State;
  explicit Tokenizer(std::shared_ptr<const State> state);

  std::shared_ptr<const State> state_;
};

// Encodes many texts: keeps a cache of words and its working memory from one to the next.
class TokenEncoder {
 public:
  explicit TokenEncoder(const Tokenizer& tokenizer);
  ~TokenEncoder();
  TokenEncoder(TokenEncoder&&) noexcept;
  TokenEncoder& operator=(TokenEncoder&&) noexcept;

  // Appends the ids of `text` to `out`. Fails: UserError as Tokenizer::encode; `out` is then as it was.
  void encode(std::string_view text, SpecialTokens special, std::vector<std::int32_t>& out);

 private:
  struct Workspace;
  void encode_gap(std::string_view text, std::vector<std::int32_t>& out);
  void encode_plain(std::string_view text, std::vector<std::int32_t>& out);

  Tokenizer tokenizer_;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace athanor::formats
