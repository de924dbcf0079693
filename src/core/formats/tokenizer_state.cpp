#include "core/formats/tokenizer_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/hash.h"
#include "core/formats/byte_alphabet.h"

namespace athanor::formats {

namespace {

// Part of every fingerprint; raise it when the same files begin to give other ids.
constexpr std::uint64_t kEncodingVersion = 1;

constexpr const char* kDisagreeRemedy =
    "take tokenizer.json and tokenizer_config.json from the same model, or correct the token in tokenizer_config.json";

}  // namespace

Tokenizer::State::State(TokenizerSource source) : name(std::move(source.name)), files(std::move(source.files)) {
  TokenizerFile file = parse_tokenizer_json(files.front().second, name);
  model = BpeModel(std::move(file.vocabulary), std::move(file.merges), file.ignore_merges);
  pre_tokenizer = std::move(file.pre_tokenizer);
  normalize_nfc = file.normalize_nfc;
  added_tokens = std::move(file.added_tokens);
  prefix_ids = std::move(file.prefix_ids);
  suffix_ids = std::move(file.suffix_ids);
  notes = std::move(file.notes);
  model_max_length = source.settings.model_max_length;
  chat_template = std::move(source.settings.chat_template);
  merge_added_tokens(source.settings);
  vocab_size = model.vocabulary().id_end();
  for (const AddedToken& token : added_tokens) {
    vocab_size = std::max(vocab_size, token.id + 1);
    append_token_bytes(token.content, added_bytes.emplace_back());
    (token.normalized ? normalized_matcher : raw_matcher).add(token);
  }
  raw_matcher.prepare();
  normalized_matcher.prepare();
  resolve_special_tokens(source.settings);
  make_fingerprint();
}

std::ptrdiff_t Tokenizer::State::find_added(std::int32_t id) const {
  const auto found = std::ranges::lower_bound(added_tokens, id, {}, &AddedToken::id);
  return found != added_tokens.end() && found->id == id ? found - added_tokens.begin() : -1;
}

std::optional<std::int32_t> Tokenizer::State::token_id(std::string_view token_text) const {
  const auto added = std::ranges::find(added_tokens, token_text, &AddedToken::content);
  if (added != added_tokens.end()) return added->id;
  std::string bytes;
  const bool in_alphabet = append_token_bytes(token_text, bytes);
  const std::int32_t id =
      model.vocabulary().find(bytes, in_alphabet ? BpeVocabulary::Spelling::kBytes : BpeVocabulary::Spelling::kLiteral);
  return id < 0 ? std::nullopt : std::optional(id);
}

// added_tokens_decoder of tokenizer_config.json: what tokenizer.json lacks is added, flags of the rest are taken over.
void Tokenizer::State::merge_added_tokens(const TokenizerSettings& settings) {
  base::Problems problems;
  for (const AddedToken& token : settings.added_tokens) {
    const auto known = token_id(token.content);
    const std::ptrdiff_t index = find_added(token.id);
    const bool id_is_taken = index >= 0 || model.vocabulary().contains(token.id);
    if (known ? *known != token.id : id_is_taken) {
      problems.add(fmt::format("added_tokens_decoder gives the id {} to {:?}, tokenizer.json gives {}", token.id,
                               token.content, known ? fmt::format("it the id {}", *known) : "that id to another token"),
                   settings.config_path, kDisagreeRemedy);
      continue;
    }
    if (index >= 0) {
      AddedToken& mine = added_tokens[static_cast<std::size_t>(index)];
      const bool was_special = mine.special;
      mine = token;
      mine.special = mine.special || was_special;
    } else {
      added_tokens.insert(std::ranges::upper_bound(added_tokens, token.id, {}, &AddedToken::id), token);
    }
  }
  problems.throw_if_any();
}

std::optional<std::int32_t> Tokenizer::State::resolve_role(const char* role, const std::optional<std::string>& token,
                                                           const std::string& config_path,
                                                           base::Problems& problems) const {
  if (!token) return std::nullopt;
  const auto id = token_id(*token);
  if (!id) {
    problems.add(fmt::format("the {} {:?} is not in the vocabulary of tokenizer.json", role, *token), config_path,
                 kDisagreeRemedy);
  }
  return id;
}

void Tokenizer::State::resolve_special_tokens(const TokenizerSettings& settings) {
  base::Problems problems;
  bos_id = resolve_role("bos_token", settings.bos_token, settings.config_path, problems);
  eos_id = resolve_role("eos_token", settings.eos_token, settings.config_path, problems);
  pad_id = resolve_role("pad_token", settings.pad_token, settings.config_path, problems);
  problems.throw_if_any();
  if (!settings.add_bos_token && !settings.add_eos_token) return;  // the post-processor's template stands
  const auto choose = [&](const char* key, const std::optional<bool>& wanted, const std::optional<std::int32_t>& id,
                          std::vector<std::int32_t>& ids) {
    ids.clear();
    if (!wanted.value_or(false)) return;
    if (id) {
      ids.push_back(*id);
    } else {
      notes.push_back(fmt::format("{}: \"{}\" has no effect, the token is not named", settings.config_path, key));
    }
  };
  choose("add_bos_token", settings.add_bos_token, bos_id, prefix_ids);
  choose("add_eos_token", settings.add_eos_token, eos_id, suffix_ids);
}

void Tokenizer::State::make_fingerprint() {
  base::ContentHash hash;
  hash.add(kEncodingVersion).add(files.front().second);
  for (const AddedToken& token : added_tokens) {
    hash.add(static_cast<std::uint64_t>(token.id)).add(token.content);
    hash.add(std::uint64_t{token.special} | std::uint64_t{token.normalized} << 1 |
             std::uint64_t{token.single_word} << 2 | std::uint64_t{token.lstrip} << 3 |
             std::uint64_t{token.rstrip} << 4);
  }
  for (const auto* ids : {&prefix_ids, &suffix_ids}) {
    hash.add(static_cast<std::uint64_t>(ids->size())).add(ids->data(), ids->size() * sizeof(std::int32_t));
  }
  for (const auto& id : {bos_id, eos_id, pad_id}) hash.add(static_cast<std::uint64_t>(id.value_or(-1)));
  fingerprint = hash.hex();
}

}  // namespace athanor::formats
