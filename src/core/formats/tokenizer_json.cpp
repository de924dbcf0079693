#include "core/formats/tokenizer_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/json.h"
#include "core/formats/byte_alphabet.h"
#include "core/formats/json_fields.h"

namespace athanor::formats {

namespace {

using base::JsonValue;

constexpr const char* kRemedy =
    "use a tokenizer.json with byte-level BPE (docs/reference/tokenizers.md), or --tokenizer_name bytes for a model "
    "from "
    "scratch";

class SectionReader {
 public:
  SectionReader(const JsonValue& root, std::string name, TokenizerFile& out)
      : root_(root), name_(std::move(name)), top_(root_, name_, kRemedy, problems_), out_(out) {}

  void read(PreTokenizerEngine engine) {
    const std::string version = top_.read_string("version", "1.0");
    if (version != "1.0")
      top_.add_problem(fmt::format("the version \"{}\" is not known", version), *root_.find("version"));
    read_model();
    read_added_tokens();
    read_normalizer();
    read_decoder();
    read_post_processor();
    note_unused();
    if (const JsonValue* section = root_.find("pre_tokenizer")) {
      base::Problems found;
      out_.pre_tokenizer = std::make_unique<PreTokenizer>(*section, name_, found, engine);
      problems_.add(found.list());
    } else {
      top_.add_problem("there is no \"pre_tokenizer\", so this is no byte-level tokenizer", root_);
    }
    problems_.throw_if_any();
  }

 private:
  JsonFields fields(const JsonValue& value) { return {value, name_, kRemedy, problems_}; }

  void read_model() {
    const JsonValue& model = *root_.find("model");
    const JsonFields model_fields = fields(model);
    const std::string type = model_fields.read_string("type", "BPE");
    if (type != "BPE") return model_fields.add_problem(fmt::format("the model type {} is not supported", type), model);
    if (out_.vocabulary.num_tokens() == 0) model_fields.add_problem("the model has no \"vocab\"", model);
    if (model.find("merges") == nullptr) model_fields.add_problem("the model has no \"merges\"", model);
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (!model_fields.read_string(key, "").empty()) {
        model_fields.add_problem(fmt::format("\"{}\" is not supported", key), *model.find(key));
      }
    }
    if (model_fields.read_bool("byte_fallback", false)) {
      model_fields.add_problem("\"byte_fallback\" is not supported (a SentencePiece vocabulary)",
                               *model.find("byte_fallback"));
    }
    const JsonValue* dropout = model_fields.find("dropout");
    if (dropout != nullptr && !(dropout->is_number() && dropout->as_double() == 0.0)) {
      model_fields.add_problem("\"dropout\" is not supported", *dropout);
    }
    if (!model_fields.read_string("unk_token", "").empty() && !has_every_byte()) {
      model_fields.add_problem("\"unk_token\" with a vocabulary that lacks bytes is not supported",
                               *model.find("unk_token"));
    }
    out_.ignore_merges = model_fields.read_bool("ignore_merges", false);
  }

  bool has_every_byte() const {
    for (int byte = 0; byte < 256; ++byte) {
      const char text = static_cast<char>(byte);
      const bool occurs_in_utf8 = byte != 0xc0 && byte != 0xc1 && byte < 0xf5;
      if (occurs_in_utf8 && out_.vocabulary.find({&text, 1}) < 0) return false;
    }
    return true;
  }

  void read_added_tokens() {
    const JsonValue* list = top_.find("added_tokens");
    if (list == nullptr) return;
    if (!list->is_array()) return top_.add_problem("\"added_tokens\" must be a list", *list);
    for (const JsonValue& item : list->items()) {
      const JsonFields item_fields = fields(item);
      AddedToken token;
      token.content = item_fields.read_string("content", "");
      const auto id = item_fields.read_integer("id");
      if (token.content.empty() || !id || *id < 0 || *id > BpeVocabulary::kMaxId) {
        item_fields.add_problem("an added token needs an \"id\" and a \"content\"", item);
        continue;
      }
      token.id = static_cast<std::int32_t>(*id);
      token.special = item_fields.read_bool("special", false);
      token.normalized = item_fields.read_bool("normalized", !token.special);
      token.single_word = item_fields.read_bool("single_word", false);
      token.lstrip = item_fields.read_bool("lstrip", false);
      token.rstrip = item_fields.read_bool("rstrip", false);
      add_token(std::move(token), item, item_fields);
    }
    std::ranges::stable_sort(out_.added_tokens, {}, &AddedToken::id);
    const auto twice = std::ranges::adjacent_find(out_.added_tokens, {}, &AddedToken::id);
    if (twice != out_.added_tokens.end()) {
      top_.add_problem(fmt::format("the id {} belongs to two added tokens", twice->id), *list);
    }
  }

  void add_token(AddedToken token, const JsonValue& item, const JsonFields& item_fields) {
    std::string bytes;
    const bool in_alphabet = append_token_bytes(token.content, bytes);
    const auto spelling = in_alphabet ? BpeVocabulary::Spelling::kBytes : BpeVocabulary::Spelling::kLiteral;
    const std::int32_t known = out_.vocabulary.find(bytes, spelling);
    if (known >= 0 ? known != token.id : out_.vocabulary.contains(token.id)) {
      const std::string other = known >= 0 ? fmt::format("has the id {}", known) : "has another token of that id";
      return item_fields.add_problem(
          fmt::format("the added token {:?} has the id {}, but the vocabulary {}", token.content, token.id, other),
          item);
    }
    out_.added_tokens.push_back(std::move(token));
  }

  void read_normalizer() {
    if (const JsonValue* section = top_.find("normalizer")) read_normalizer_stage(*section);
  }
  void read_normalizer_stage(const JsonValue& value) {
    const JsonFields stage = fields(value);
    const std::string type = stage.read_string("type", "");
    const JsonValue* list = stage.find("normalizers");
    if (type == "NFC") {
      out_.normalize_nfc = true;
    } else if (type == "Sequence" && list != nullptr && list->is_array()) {
      for (const JsonValue& item : list->items()) read_normalizer_stage(item);
    } else {
      stage.add_problem(fmt::format("the normalizer \"{}\" is not supported", type), value);
    }
  }

  void read_decoder() {
    const JsonValue* decoder = top_.find("decoder");
    if (decoder == nullptr)
      return top_.add_problem("there is no \"decoder\", so this is no byte-level tokenizer", root_);
    read_decoder_stage(*decoder);
  }
  void read_decoder_stage(const JsonValue& value) {
    const JsonFields stage = fields(value);
    const std::string type = stage.read_string("type", "");
    const JsonValue* list = stage.find("decoders");
    if (type == "Sequence" && list != nullptr && list->is_array() && list->items().size() == 1) {
      read_decoder_stage(list->items().front());
    } else if (type != "ByteLevel") {
      stage.add_problem(fmt::format("the decoder \"{}\" is not supported", type), value);
    }
  }

  void read_post_processor() {
    if (const JsonValue* section = top_.find("post_processor")) read_post_processor_stage(*section);
  }
  void read_post_processor_stage(const JsonValue& value) {
    const JsonFields stage = fields(value);
    const std::string type = stage.read_string("type", "");
    const JsonValue* list = stage.find("processors");
    if (type == "Sequence" && list != nullptr && list->is_array()) {
      for (const JsonValue& item : list->items()) read_post_processor_stage(item);
    } else if (type == "TemplateProcessing") {
      read_template(value, stage);
    } else if (type != "ByteLevel") {  // ByteLevel changes offsets only
      stage.add_problem(fmt::format("the post-processor \"{}\" is not supported", type), value);
    }
  }

  void read_template(const JsonValue& value, const JsonFields& stage) {
    const JsonValue* single = stage.find("single");
    if (single == nullptr || !single->is_array()) return stage.add_problem("\"single\" must be a list", value);
    bool after_text = false;
    for (const JsonValue& item : single->items()) {
      if (item.find("Sequence") != nullptr) {
        if (after_text) stage.add_problem("the template repeats the text", item);
        after_text = true;
        continue;
      }
      const JsonValue* special = item.find("SpecialToken");
      const JsonValue* id = special == nullptr ? nullptr : special->find("id");
      const JsonValue* table = value.find("special_tokens");
      const JsonValue* entry =
          id != nullptr && id->is_string() && table != nullptr ? table->find(id->as_string()) : nullptr;
      const JsonValue* ids = entry == nullptr ? nullptr : entry->find("ids");
      if (ids == nullptr || !ids->is_array()) {
        stage.add_problem("the template names a special token that it does not define", item);
        continue;
      }
      for (const JsonValue& number : ids->items()) append_template_id(number, after_text, stage);
    }
  }

  void append_template_id(const JsonValue& number, bool after_text, const JsonFields& stage) {
    const std::int64_t id = number.is_integer() ? number.as_integer() : -1;
    const bool known = id >= 0 && id <= BpeVocabulary::kMaxId &&
                       (out_.vocabulary.contains(static_cast<std::int32_t>(id)) ||
                        std::ranges::any_of(out_.added_tokens, [id](const AddedToken& t) { return t.id == id; }));
    if (!known) return stage.add_problem("the template puts in an id that no token has", number);
    (after_text ? out_.suffix_ids : out_.prefix_ids).push_back(static_cast<std::int32_t>(id));
  }

  void note_unused() {
    for (const char* key : {"truncation", "padding"}) {
      const JsonValue* section = top_.find(key);
      if (section == nullptr) continue;
      out_.notes.push_back(fmt::format("{}: \"{}\" is left aside; lengths are set by the training arguments",
                                       top_.place(*section), key));
    }
  }

  const JsonValue& root_;
  std::string name_;
  base::Problems problems_;
  JsonFields top_;
  TokenizerFile& out_;
};

}  // namespace

TokenizerFile parse_tokenizer_json(std::string_view text, const std::string& name, PreTokenizerEngine engine) {
  BpeTables tables = read_bpe_tables(text, name);
  const JsonValue root = base::parse_json(tables.skeleton, name);
  if (!root.is_object() || !tables.has_model) {
    throw base::UserError("this is no tokenizer.json: it has no \"model\"", name, kRemedy);
  }
  TokenizerFile out;
  out.vocabulary = std::move(tables.vocabulary);
  out.merges = std::move(tables.merges);
  SectionReader(root, name, out).read(engine);
  return out;
}

}  // namespace athanor::formats
