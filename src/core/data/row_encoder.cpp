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

// A column that a row leaves out is often written as null.
const JsonValue* present(const JsonValue& row, const std::string& key) {
  const JsonValue* value = row.find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

// The string under `key`, "" when absent or null.
base::Result<std::string, std::string> text_under(const JsonValue& row, const std::string& key) {
  const JsonValue* value = present(row, key);
  if (value == nullptr) return std::string();
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
  if (const JsonValue* ids = present(row, "input_ids")) return encode_ids(*ids, present(row, "labels"));
  if (const JsonValue* messages = present(row, "messages")) return encode_messages(*messages);
  if (present(row, "instruction") != nullptr) return encode_instruction(row);
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
  drop_repeated_bos(document);
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

// A text may bring its own BOS: of those in front one stays.
void RowEncoder::drop_repeated_bos(Document& document) const {
  if (rules_.bos == EdgeToken::kNone || !tokenizer_->bos_id().has_value()) return;
  const auto other = std::find_if(document.tokens.begin(), document.tokens.end(),
                                  [bos = *tokenizer_->bos_id()](std::int32_t id) { return id != bos; });
  const auto repeated = other - document.tokens.begin() - 1;
  document.tokens.erase(document.tokens.begin(), document.tokens.begin() + repeated);
  if (!document.labels.empty()) document.labels.erase(document.labels.begin(), document.labels.begin() + repeated);
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
  if (labels == nullptr) {
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
  if (present(row, "output") == nullptr) return Failure{std::string("a row with instruction needs output")};
  std::string question = strip(instruction.value());
  if (!input.value().empty()) question += "\n" + input.value();
  std::vector<Message> messages = {{"user", question}, {"assistant", output.value()}};
  if (tokenizer_ != nullptr) {
    const std::string_view system = instruction_system_text(template_for(ChatRows::kInstruction));
    if (!system.empty()) messages.insert(messages.begin(), {"system", std::string(system)});
  }
  return encode_chat(messages, ChatRows::kInstruction);
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
  begin_document(document);
  encoder_->encode(chat.text, formats::SpecialTokens::kNone, document.tokens);
  if (rules_.learnt == LearntPart::kEverything) {
    document.labels = document.tokens;
  } else if (!label_by_bytes(chat, document)) {
    document = encode_parts(chat);
  }
  document.kind = DocumentKind::kConversation;
  drop_repeated_bos(document);
  return document;
}

// Tokens are mapped to the text by their bytes, from its end, so that a word may span the end of the prompt without changing the
// ids. False when bytes and text do not agree: the tokenizer normalizes the text or strips white space.
bool RowEncoder::label_by_bytes(const RenderedChat& chat, Document& document) const {
  document.labels.assign(document.tokens.size(), kNoTarget);
  std::size_t at = chat.text.size();
  std::size_t span = chat.learnt.size();
  for (std::size_t i = document.tokens.size(); i-- > 0 && at > 0;) {
    const std::string_view bytes = tokenizer_->token_bytes(document.tokens[i]);
    if (!std::string_view(chat.text).substr(0, at).ends_with(bytes)) return false;
    at -= bytes.size();
    while (span > 0 && chat.learnt[span - 1].first > at) --span;
    if (span > 0 && at < chat.learnt[span - 1].second) document.labels[i] = document.tokens[i];
  }
  return at == 0;
}

// Learnt and other parts encoded one by one: what is learnt is exact, at the price of a token border where each part ends.
Document RowEncoder::encode_parts(const RenderedChat& chat) {
  Document document;
  begin_document(document);
  const std::string_view text = chat.text;
  std::size_t at = 0;
  const auto encode_to = [&](std::size_t end) {
    encoder_->encode(text.substr(at, end - at), formats::SpecialTokens::kNone, document.tokens);
    at = end;
  };
  for (const auto& [begin, end] : chat.learnt) {
    encode_to(begin);
    document.labels.resize(document.tokens.size(), kNoTarget);
    encode_to(end);
    const auto learnt_from = static_cast<std::ptrdiff_t>(document.labels.size());
    document.labels.insert(document.labels.end(), document.tokens.begin() + learnt_from, document.tokens.end());
  }
  encode_to(text.size());
  document.labels.resize(document.tokens.size(), kNoTarget);
  return document;
}

}  // namespace athanor::data
