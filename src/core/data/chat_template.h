// Conversations as the DeepSeek family writes them: one text with the spans that are learnt.
//
// Source:  the chat templates in the tokenizer_config.json of deepseek-llm / V2 chat, deepseek-coder instruct and V2.5 / V3 / R1 (and
//          its distilled Llama and Qwen models); docs/guides/data.md shows each.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/formats/tokenizer.h"

namespace athanor::data {

enum class ChatTemplate { kPlain, kDeepSeekLlm, kDeepSeekCoder, kDeepSeekV3 };

// The names that --chat_template takes, aliases included (deepseek-llm, deepseek-v2, deepseek-coder, deepseek-v2.5, deepseek-v3,
// deepseek-r1, plain).
const std::vector<std::string>& chat_template_names();
// Fails: UserError with the nearest name.
ChatTemplate chat_template_by_name(const std::string& name);
// What fits a tokenizer: by its special tokens. `instruction_rows`: the data has instruction/output, as deepseek-coder was tuned on.
enum class ChatRows { kMessages, kInstruction };
ChatTemplate chat_template_for(const formats::Tokenizer& tokenizer, ChatRows rows);
// The marker tokens that a template needs and a tokenizer lacks; empty when it fits.
std::vector<std::string> missing_markers(ChatTemplate chat_template, const formats::Tokenizer& tokenizer);

// The system text that stands before an instruction row; empty: none.
std::string_view instruction_system_text(ChatTemplate chat_template);

struct Message {
  std::string role;  // system, user, assistant
  std::string content;
};

struct RenderedChat {
  std::string text;                                         // without BOS
  std::vector<std::pair<std::size_t, std::size_t>> learnt;  // byte ranges of responses with the token that ends them
};

// `end_of_text` is the tokenizer's EOS as text. Fails: Problem text in `error` for an unknown role; then the result is empty.
RenderedChat render_chat(ChatTemplate chat_template, const std::vector<Message>& messages, std::string_view end_of_text,
                         std::string& error);

}  // namespace athanor::data
