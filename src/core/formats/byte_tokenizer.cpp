// The built-in byte tokenizer: id = byte, then BOS, EOS and padding. It is a byte-level BPE without merges, so its tokenizer.json
// is one that transformers reads.
#include <fmt/format.h>

#include "core/base/json.h"
#include "core/formats/byte_alphabet.h"
#include "core/formats/tokenizer_state.h"

namespace athanor::formats {

namespace {

using base::JsonValue;

struct Role {
  const char* key;
  const char* content;
  std::int64_t id;
};
constexpr Role kBos = {"bos_token", "<|bos|>", 256};
constexpr Role kEos = {"eos_token", "<|eos|>", 257};
constexpr Role kPad = {"pad_token", "<|pad|>", 258};

JsonValue object(const std::vector<std::pair<std::string, JsonValue>>& members) {
  JsonValue out = JsonValue::object();
  for (const auto& [key, value] : members) out.set(key, value);
  return out;
}

JsonValue added_token(const Role& role) {
  return object({{"id", role.id},
                 {"content", role.content},
                 {"single_word", false},
                 {"lstrip", false},
                 {"rstrip", false},
                 {"normalized", false},
                 {"special", true}});
}

// BOS before the text, so that transformers puts it there too.
JsonValue post_processor() {
  const JsonValue bos = object({{"SpecialToken", object({{"id", kBos.content}, {"type_id", 0}})}});
  const auto sequence = [](const char* id) { return object({{"Sequence", object({{"id", id}, {"type_id", 0}})}}); };
  const JsonValue entry = object({{"id", kBos.content},
                                  {"ids", JsonValue::array({JsonValue(kBos.id)})},
                                  {"tokens", JsonValue::array({JsonValue(kBos.content)})}});
  return object({{"type", "TemplateProcessing"},
                 {"single", JsonValue::array({bos, sequence("A")})},
                 {"pair", JsonValue::array({bos, sequence("A"), sequence("B")})},
                 {"special_tokens", object({{kBos.content, entry}})}});
}

std::string tokenizer_json() {
  JsonValue vocabulary = JsonValue::object();
  for (int byte = 0; byte < 256; ++byte) {
    const char text = static_cast<char>(byte);
    vocabulary.set(alphabet_text({&text, 1}), byte);
  }
  const auto byte_level = [](bool use_regex) {
    return object(
        {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", use_regex}});
  };
  const JsonValue root = object({
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", JsonValue::array({added_token(kBos), added_token(kEos), added_token(kPad)})},
      {"normalizer", nullptr},
      {"pre_tokenizer", byte_level(false)},
      {"post_processor", post_processor()},
      {"decoder", byte_level(true)},
      {"model", object({{"type", "BPE"},
                        {"dropout", nullptr},
                        {"unk_token", nullptr},
                        {"continuing_subword_prefix", nullptr},
                        {"end_of_word_suffix", nullptr},
                        {"fuse_unk", false},
                        {"byte_fallback", false},
                        {"ignore_merges", false},
                        {"vocab", vocabulary},
                        {"merges", JsonValue::array()}})},
  });
  return root.dump(2) + "\n";
}

}  // namespace

TokenizerSource byte_tokenizer_source() {
  TokenizerSource source;
  source.name = "bytes";
  const JsonValue config = object({{"tokenizer_class", "PreTrainedTokenizerFast"},
                                   {kBos.key, kBos.content},
                                   {kEos.key, kEos.content},
                                   {kPad.key, kPad.content},
                                   {"clean_up_tokenization_spaces", false}});
  source.files.emplace_back("tokenizer.json", tokenizer_json());
  source.files.emplace_back("tokenizer_config.json", config.dump(2) + "\n");
  source.settings.bos_token = kBos.content;
  source.settings.eos_token = kEos.content;
  source.settings.pad_token = kPad.content;
  source.settings.tokenizer_class = "PreTrainedTokenizerFast";
  return source;
}

}  // namespace athanor::formats
