// One line or one JSON object of a training file -> one Document.
//
// Rules:  BOS occurs once: it is put in front when the tokenizer has one and the text does not begin with it already. EOS is put
//         at the end of plain text and is learnt. What is learnt is decided by position, never by token id (padding may equal EOS).
// Threads: confined to one thread (it keeps a tokenizer's working memory).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/data/chat_template.h"
#include "core/data/document.h"
#include "core/formats/tokenizer.h"

namespace athanor::data {

enum class LearntPart { kResponses, kEverything };
enum class EdgeToken { kNone, kOnce };

struct RowRules {
  std::string text_column = "text";
  std::string text_separator;                 // between the documents of a text file (text_documents.h)
  std::optional<ChatTemplate> chat_template;  // empty: by tokenizer and kind of row
  LearntPart learnt = LearntPart::kResponses;
  EdgeToken bos = EdgeToken::kOnce;
  EdgeToken eos = EdgeToken::kOnce;
  std::int64_t vocab_size = 0;  // ids of already tokenised rows are below this; 0: not checked
};

class RowEncoder {
 public:
  // Without a tokenizer only already tokenised rows can be read. `tokenizer` must outlive this.
  RowEncoder(const formats::Tokenizer* tokenizer, RowRules rules);

  // The error says what is wrong with the row; place and remedy are the caller's.
  base::Result<Document, std::string> encode_object(const base::JsonValue& row);
  base::Result<Document, std::string> encode_text(std::string_view text);

 private:
  base::Result<Document, std::string> encode_ids(const base::JsonValue& ids, const base::JsonValue* labels);
  base::Result<Document, std::string> encode_messages(const base::JsonValue& messages);
  base::Result<Document, std::string> encode_instruction(const base::JsonValue& row);
  base::Result<Document, std::string> encode_chat(const std::vector<Message>& messages, ChatRows rows);
  bool label_by_bytes(const RenderedChat& chat, Document& document) const;
  Document encode_parts(const RenderedChat& chat);
  void begin_document(Document& document) const;
  void drop_repeated_bos(Document& document) const;
  ChatTemplate template_for(ChatRows rows);

  const formats::Tokenizer* tokenizer_;
  RowRules rules_;
  std::optional<formats::TokenEncoder> encoder_;
  std::string end_of_text_;
};

}  // namespace athanor::data
