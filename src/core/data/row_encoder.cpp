#include "core/data/row_encoder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/unicode.h"
#include "core/data/micro_batch.h"

namespace athanor::data {

namespace {

using base::Failure;
using base::JsonValue;
using Encoded = base::Result<Document, std::string>;

constexpr const char* kNeedsTokenizer =
    "this row is text and there is no tokenizer (the model folder has no tokenizer.json and no tokenizer was named)";

std::string names_of(const JsonValue& row) {
  std::vector<std::string> names;
  for (const base::JsonMember& member : row.members()) names.push_back(member.key);
  return fmt::format("{}", fmt::join(names, ", "));
}

// The string under `key`, "" when absent or null.
base::Result<std::string, std::string> text_under(const JsonValue& row, const std::string& key) {
  const JsonValue* value = row.find(key);
  if (value == nullptr || value->is_null()) return std::string();
  if (value->is_string()) return value->as_string();
  return Failure{fmt::format("{} must be text, not a {}", key, base::json_kind_name(value->kind()))};
}

std::string strip(const std::string& text) {
  const char* spaces = " \t\r\n\f\v";
  const std::size_t begin = text.find_first_not_of(spaces);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(spaces) - begin + 1);
}

}  // namespace

RowEncoder::RowEncoder(const formats::Tokenizer* tokenizer, RowRules rules)
    : tokenizer_(tokenizer), rules_(std::move(rules)) {
  if (tokenizer_ == nullptr) return;
  encoder_.emplace(*tokenizer_);
  if (tokenizer_->eos_id().has_value()) end_of_text_ = tokenizer_->token_text(*tokenizer_->eos_id());
}

Encoded RowEncoder::encode_object(const JsonValue& row) {
  if (!row.is_object())
    return Failure{fmt::format("a row must be an object, not a {}", base::json_kind_name(row.kind()))};
  if (const JsonValue* ids = row.find("input_ids")) return encode_ids(*ids, row.find("labels"));
  if (const JsonValue* messages = row.find("messages")) return encode_messages(*messages);
  if (row.find("instruction") != nullptr) return encode_instruction(row);
  if (const JsonValue* text = row.find(rules_.text_column)) {
    if (!text->is_string()) {
      return Failure{fmt::format("{} must be text, not a {}", rules_.text_column, base::json_kind_name(text->kind()))};
    }
    return encode_text(text->as_string());
  }
  return Failure{fmt::format("the row has none of input_ids, messages, instruction and {}; it has {}",
                             rules_.text_column, names_of(row))};
}

Encoded RowEncoder::encode_text(std::string_view text) {
  if (!encoder_.has_value()) return Failure{std::string(kNeedsTokenizer)};
  if (const std::size_t bad = base::find_invalid_utf8(text); bad != std::string_view::npos) {
    return Failure{fmt::format("the text is no UTF-8 at byte {}", bad)};
  }
  Document document;
  begin_document(document);
  encoder_->encode(text, formats::SpecialTokens::kNone, document.tokens);
  const std::optional<std::int32_t> bos = tokenizer_->bos_id();
  if (bos.has_value() && document.tokens.size() > 1 && document.tokens[0] == *bos && document.tokens[1] == *bos &&
      rules_.bos == EdgeToken::kOnce) {
    document.tokens.erase(document.tokens.begin());  // the text brought its own
  }
  const std::optional<std::int32_t> eos = tokenizer_->eos_id();
  if (rules_.eos == EdgeToken::kOnce && eos.has_value() &&
      (document.tokens.empty() || document.tokens.back() != *eos)) {
    document.tokens.push_back(*eos);
  }
  document.labels = document.tokens;
  return document;
}

void RowEncoder::begin_document(Document& document) const {
  if (rules_.bos == EdgeToken::kOnce && tokenizer_->bos_id().has_value())
    document.tokens.push_back(*tokenizer_->bos_id());
}

Encoded RowEncoder::encode_ids(const JsonValue& ids, const JsonValue* labels) {
  if (!ids.is_array())
    return Failure{fmt::format("input_ids must be a list, not a {}", base::json_kind_name(ids.kind()))};
  Document document;
  document.kind = DocumentKind::kTokens;
  document.tokens.reserve(ids.items().size());
  for (const JsonValue& id : ids.items()) {
    if (!id.is_integer() || id.as_integer() < 0 || id.as_integer() > INT32_MAX) {
      return Failure{fmt::format("input_ids[{}] is no token id: {}", document.tokens.size(), id.dump())};
    }
    if (rules_.vocab_size > 0 && id.as_integer() >= rules_.vocab_size) {
      return Failure{fmt::format("input_ids[{}] is {}, the model's vocab_size is {}", document.tokens.size(),
                                 id.as_integer(), rules_.vocab_size)};
    }
    document.tokens.push_back(static_cast<std::int32_t>(id.as_integer()));
  }
  if (labels == nullptr || labels->is_null()) {
    document.labels = document.tokens;
    return document;
  }
  if (!labels->is_array() || labels->items().size() != document.tokens.size()) {
    return Failure{fmt::format("labels must be a list as long as input_ids ({}), not {}", document.tokens.size(),
                               labels->is_array() ? std::to_string(labels->items().size()) : "none")};
  }
  for (const JsonValue& label : labels->items()) {
    const bool known = label.is_integer() && (label.as_integer() == kNoTarget ||
                                              (label.as_integer() >= 0 && label.as_integer() <= INT32_MAX &&
                                               (rules_.vocab_size == 0 || label.as_integer() < rules_.vocab_size)));
    if (!known) {
      return Failure{
          fmt::format("labels[{}] is neither a token id nor -100: {}", document.labels.size(), label.dump())};
    }
    document.labels.push_back(static_cast<std::int32_t>(label.as_integer()));
  }
  return document;
}

Encoded RowEncoder::encode_messages(const JsonValue& messages) {
  if (!messages.is_array() || messages.items().empty())
    return Failure{std::string("messages must be a list of {role, content}")};
  std::vector<Message> list;
  for (const JsonValue& item : messages.items()) {
    const JsonValue* role = item.find("role");
    const JsonValue* content = item.find("content");
    if (role == nullptr || !role->is_string() || content == nullptr || !content->is_string()) {
      return Failure{fmt::format("messages[{}] must have role and content as text", list.size())};
    }
    list.push_back({role->as_string(), content->as_string()});
  }
  return encode_chat(list, ChatRows::kMessages);
}

Encoded RowEncoder::encode_instruction(const JsonValue& row) {
  const auto instruction = text_under(row, "instruction");
  const auto input = text_under(row, "input");
  const auto output = text_under(row, "output");
  for (const auto* part : {&instruction, &input, &output}) {
    if (!part->ok()) return Failure{part->error()};
  }
  if (row.find("output") == nullptr) return Failure{std::string("a row with instruction needs output")};
  std::string question = strip(instruction.value());
  if (!input.value().empty()) question += "\n" + input.value();
  return encode_chat({{"user", question}, {"assistant", output.value()}}, ChatRows::kInstruction);
}

ChatTemplate RowEncoder::template_for(ChatRows rows) {
  return rules_.chat_template.has_value() ? *rules_.chat_template : chat_template_for(*tokenizer_, rows);
}

Encoded RowEncoder::encode_chat(const std::vector<Message>& messages, ChatRows rows) {
  if (!encoder_.has_value()) return Failure{std::string(kNeedsTokenizer)};
  std::string error;
  const RenderedChat chat = render_chat(template_for(rows), messages, end_of_text_, error);
  if (!error.empty()) return Failure{error};
  if (const std::size_t bad = base::find_invalid_utf8(chat.text); bad != std::string::npos) {
    return Failure{fmt::format("the conversation is no UTF-8 at byte {} of its text", bad)};
  }
  Document document;
  document.kind = DocumentKind::kConversation;
  begin_document(document);
  const std::size_t first = document.tokens.size();
  encoder_->encode(chat.text, formats::SpecialTokens::kNone, document.tokens);
  if (rules_.learnt == LearntPart::kEverything) {
    document.labels = document.tokens;
    return document;
  }
  // Tokens are mapped to the text by their bytes, so that a word may span the end of the prompt without changing the ids.
  document.labels.assign(document.tokens.size(), kNoTarget);
  std::size_t at = 0;
  std::size_t span = 0;
  for (std::size_t i = first; i < document.tokens.size(); ++i) {
    const std::size_t end = at + tokenizer_->token_bytes(document.tokens[i]).size();
    while (span < chat.learnt.size() && chat.learnt[span].second <= at) ++span;
    if (span < chat.learnt.size() && at >= chat.learnt[span].first) document.labels[i] = document.tokens[i];
    at = end;
  }
  return document;
}

}  // namespace athanor::data
