#include "core/formats/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/file.h"
#include "core/base/unicode.h"
#include "core/formats/byte_alphabet.h"
#include "core/formats/tokenizer_state.h"

namespace athanor::formats {

namespace fs = std::filesystem;

namespace {

constexpr const char* kFileNames[] = {"tokenizer_config.json", "special_tokens_map.json", "chat_template.jinja"};

std::string find_tokenizer_json(const std::string& path) {
  constexpr const char* kRemedy =
      "give a folder with tokenizer.json, or \"bytes\" for the built-in byte tokenizer (models made from scratch)";
  std::error_code ignored;
  if (!fs::exists(path, ignored)) throw base::UserError("the tokenizer does not exist", path, kRemedy);
  if (!fs::is_directory(path, ignored)) return path;
  std::string file = (fs::path(path) / "tokenizer.json").string();
  if (fs::exists(file, ignored)) return file;
  if (fs::exists(fs::path(path) / "tokenizer.model", ignored)) {
    throw base::UserError(
        "this folder has a SentencePiece tokenizer.model and no tokenizer.json", path,
        "save the tokenizer with transformers (AutoTokenizer.from_pretrained(...).save_pretrained(...)), "
        "or use a model with a byte-level tokenizer.json");
  }
  throw base::UserError("this folder has no tokenizer.json", path, kRemedy);
}

}  // namespace

Tokenizer::Tokenizer(std::shared_ptr<const State> state) : state_(std::move(state)) {}

Tokenizer Tokenizer::load(const std::string& path) {
  if (path == "bytes") return bytes();
  TokenizerSource source;
  source.name = find_tokenizer_json(path);
  const fs::path folder = fs::path(source.name).parent_path();
  source.files.emplace_back("tokenizer.json", base::read_file(source.name));
  source.settings = read_tokenizer_settings(folder.string());
  for (const char* name : kFileNames) {
    if (fs::exists(folder / name)) source.files.emplace_back(name, base::read_file((folder / name).string()));
  }
  return Tokenizer(std::make_shared<const State>(std::move(source)));
}

Tokenizer Tokenizer::bytes() { return Tokenizer(std::make_shared<const State>(byte_tokenizer_source())); }

std::vector<std::int32_t> Tokenizer::encode(std::string_view text, SpecialTokens special) const {
  std::vector<std::int32_t> ids;
  TokenEncoder(*this).encode(text, special, ids);
  return ids;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, SpecialText special) const {
  std::string bytes;
  for (const std::int32_t id : ids) {
    if (special == SpecialText::kKeep || !is_special(id)) bytes += token_bytes(id);
  }
  return base::replace_invalid_utf8(bytes);
}

std::string_view Tokenizer::token_bytes(std::int32_t id) const {
  const BpeVocabulary& vocabulary = state_->model.vocabulary();
  if (vocabulary.contains(id)) return vocabulary.bytes(id);
  const std::ptrdiff_t added = state_->find_added(id);
  return added < 0 ? std::string_view() : state_->added_bytes[static_cast<std::size_t>(added)];
}

std::string Tokenizer::token_text(std::int32_t id) const {
  const std::ptrdiff_t added = state_->find_added(id);
  if (added >= 0) return state_->added_tokens[static_cast<std::size_t>(added)].content;
  const BpeVocabulary& vocabulary = state_->model.vocabulary();
  if (!vocabulary.contains(id)) return "";
  const std::string_view bytes = vocabulary.bytes(id);
  return vocabulary.spelling(id) == BpeVocabulary::Spelling::kBytes ? alphabet_text(bytes) : std::string(bytes);
}

bool Tokenizer::has_token(std::int32_t id) const {
  return state_->model.vocabulary().contains(id) || state_->find_added(id) >= 0;
}

bool Tokenizer::is_special(std::int32_t id) const {
  const std::ptrdiff_t added = state_->find_added(id);
  return added >= 0 && state_->added_tokens[static_cast<std::size_t>(added)].special;
}

std::optional<std::int32_t> Tokenizer::token_id(std::string_view token_text) const {
  return state_->token_id(token_text);
}

std::int32_t Tokenizer::vocab_size() const { return state_->vocab_size; }

std::size_t Tokenizer::num_tokens() const {
  const auto only_added = std::ranges::count_if(
      state_->added_tokens, [this](const AddedToken& token) { return !state_->model.vocabulary().contains(token.id); });
  return state_->model.vocabulary().num_tokens() + static_cast<std::size_t>(only_added);
}

std::optional<std::int32_t> Tokenizer::bos_id() const { return state_->bos_id; }
std::optional<std::int32_t> Tokenizer::eos_id() const { return state_->eos_id; }
std::optional<std::int32_t> Tokenizer::pad_id() const { return state_->pad_id; }
const std::vector<std::int32_t>& Tokenizer::prefix_ids() const { return state_->prefix_ids; }
const std::vector<std::int32_t>& Tokenizer::suffix_ids() const { return state_->suffix_ids; }
const std::vector<AddedToken>& Tokenizer::added_tokens() const { return state_->added_tokens; }
std::optional<std::int64_t> Tokenizer::model_max_length() const { return state_->model_max_length; }
const std::string& Tokenizer::chat_template() const { return state_->chat_template; }
const std::string& Tokenizer::fingerprint() const { return state_->fingerprint; }
const std::vector<std::string>& Tokenizer::notes() const { return state_->notes; }
std::vector<std::pair<std::string, std::string>> Tokenizer::files() const { return state_->files; }

void Tokenizer::save(const std::string& folder) const {
  base::make_folders(folder);
  for (const auto& [name, content] : state_->files) base::write_whole((fs::path(folder) / name).string(), content);
}

}  // namespace athanor::formats
