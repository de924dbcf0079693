#include "core/formats/tokenizer_settings.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/formats/bpe_vocabulary.h"
#include "core/formats/json_fields.h"

namespace athanor::formats {

namespace {

using base::JsonValue;

constexpr const char* kRemedy = "copy the file again from the model's folder, or correct it";
// transformers writes int(1e30) for "no limit"; anything beyond this is no length a model has.
constexpr double kLargestLength = 1 << 30;

struct ConfigFile {
  std::string path;
  JsonValue root;
};

std::optional<ConfigFile> read_config(const std::string& folder, const char* file) {
  const std::string path = (std::filesystem::path(folder) / file).string();
  if (!std::filesystem::exists(path)) return std::nullopt;
  ConfigFile out{path, base::parse_json_file(path)};
  if (!out.root.is_object()) throw base::UserError("this must be a JSON object", path, kRemedy);
  return out;
}

// A token as text or as an AddedToken object.
void read_token(const JsonFields& fields, const char* key, std::optional<std::string>& out) {
  const JsonValue* value = fields.find(key);
  if (value == nullptr) return;
  const JsonValue* content = value->is_object() ? value->find("content") : value;
  if (content == nullptr || !content->is_string()) {
    return fields.add_problem(fmt::format("\"{}\" must be a token's text", key), *value);
  }
  out = content->as_string();
}

void read_token_roles(const JsonFields& fields, TokenizerSettings& out) {
  read_token(fields, "bos_token", out.bos_token);
  read_token(fields, "eos_token", out.eos_token);
  read_token(fields, "pad_token", out.pad_token);
}

void read_added_tokens(const JsonFields& fields, base::Problems& problems, const std::string& path,
                       TokenizerSettings& out) {
  const JsonValue* table = fields.find("added_tokens_decoder");
  if (table == nullptr) return;
  for (const base::JsonMember& member : table->members()) {
    const JsonFields item(member.value, path, kRemedy, problems);
    AddedToken token;
    token.content = item.read_string("content", "");
    const std::string& key = member.key;
    const auto parsed = std::from_chars(key.data(), key.data() + key.size(), token.id);
    const bool is_id = parsed.ec == std::errc() && parsed.ptr == key.data() + key.size();
    if (!is_id || token.id < 0 || token.id > BpeVocabulary::kMaxId || token.content.empty()) {
      item.add_problem(fmt::format("\"added_tokens_decoder\" needs ids with a \"content\", here is {:?}", key),
                       member.value);
      continue;
    }
    token.special = item.read_bool("special", false);
    token.normalized = item.read_bool("normalized", !token.special);
    token.single_word = item.read_bool("single_word", false);
    token.lstrip = item.read_bool("lstrip", false);
    token.rstrip = item.read_bool("rstrip", false);
    out.added_tokens.push_back(std::move(token));
  }
}

// The key holds one template, or a list of named ones of which "default" counts.
std::string read_chat_template(const JsonFields& fields) {
  const JsonValue* value = fields.find("chat_template");
  if (value == nullptr) return "";
  if (value->is_string()) return value->as_string();
  if (value->is_array()) {
    for (const JsonValue& item : value->items()) {
      const JsonValue* name = item.find("name");
      const JsonValue* text = item.find("template");
      const bool is_default = name != nullptr && name->is_string() && name->as_string() == "default";
      if (is_default && text != nullptr && text->is_string()) return text->as_string();
    }
  }
  return "";
}

}  // namespace

TokenizerSettings read_tokenizer_settings(const std::string& folder) {
  TokenizerSettings out;
  base::Problems problems;
  const auto config = read_config(folder, "tokenizer_config.json");
  if (config) {
    out.config_path = config->path;
    const JsonFields fields(config->root, config->path, kRemedy, problems);
    const JsonValue* added = fields.find("added_tokens_decoder");
    if (added != nullptr && !added->is_object())
      fields.add_problem("\"added_tokens_decoder\" must be an object", *added);
    read_token_roles(fields, out);
    if (fields.find("add_bos_token") != nullptr) out.add_bos_token = fields.read_bool("add_bos_token", false);
    if (fields.find("add_eos_token") != nullptr) out.add_eos_token = fields.read_bool("add_eos_token", false);
    const JsonValue* length = fields.find("model_max_length");
    if (length != nullptr && length->is_integer() && length->as_double() <= kLargestLength &&
        length->as_integer() > 0) {
      out.model_max_length = length->as_integer();
    }
    out.chat_template = read_chat_template(fields);
    out.tokenizer_class = fields.read_string("tokenizer_class", "");
    if (added != nullptr && added->is_object()) read_added_tokens(fields, problems, config->path, out);
  }
  if (!config || config->root.find("added_tokens_decoder") == nullptr) {
    if (const auto map = read_config(folder, "special_tokens_map.json")) {
      read_token_roles(JsonFields(map->root, map->path, kRemedy, problems), out);
    }
  }
  problems.throw_if_any();
  const std::string jinja = (std::filesystem::path(folder) / "chat_template.jinja").string();
  if (std::filesystem::exists(jinja)) out.chat_template = base::read_file(jinja);
  return out;
}

}  // namespace athanor::formats
