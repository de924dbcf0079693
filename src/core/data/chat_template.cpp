#include "core/data/chat_template.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "core/base/error.h"
#include "core/base/nearest.h"

namespace athanor::data {

namespace {

// The bars of DeepSeek's marker tokens are U+FF5C.
constexpr std::string_view kUserMarker = "<\xef\xbd\x9cUser\xef\xbd\x9c>";
constexpr std::string_view kAssistantMarker =
    "<\xef\xbd\x9c"
    "Assistant\xef\xbd\x9c>";
constexpr std::string_view kCoderEndMarker = "<|EOT|>";
// In the chat template of deepseek-coder-instruct, and in DeepSeek-Coder's fine-tuning script: they differ in spelling.
constexpr std::string_view kCoderSystem =
    "You are an AI programming assistant, utilizing the Deepseek Coder model, developed by Deepseek Company, and you "
    "only answer questions related to computer science. For politically sensitive questions, security and privacy "
    "issues, and other non-computer science questions, you will refuse to answer\n";
constexpr std::string_view kCoderInstructionSystem =
    "You are an AI programming assistant, utilizing the DeepSeek Coder model, developed by DeepSeek Company, and you "
    "only answer questions related to computer science. For politically sensitive questions, security and privacy "
    "issues, and other non-computer science questions, you will refuse to answer.\n";

// What stands around the content of each role. The learnt span of a response is its opening `learnt_prefix`, content and end.
struct Wording {
  std::string_view name;
  std::string_view system_after;
  std::string_view user_before, user_after;
  std::string_view assistant_before, learnt_prefix, assistant_after;
  std::string_view end_marker;  // empty: the tokenizer's EOS
  std::string_view between;     // after a response that is not the last message
  std::string_view default_system;
};

constexpr std::array<Wording, 4> kWordings = {{
    {"plain", "\n\n", "### Instruction:\n", "\n", "### Response:\n", "", "", "", "\n", ""},
    {"deepseek-llm", "\n\n", "User: ", "\n\n", "Assistant:", " ", "", "", "", ""},
    {"deepseek-coder", "", "### Instruction:\n", "\n", "### Response:\n", "", "\n", kCoderEndMarker, "\n",
     kCoderSystem},
    {"deepseek-v3", "", kUserMarker, "", kAssistantMarker, "", "", "", "", ""},
}};

const Wording& wording_of(ChatTemplate chat_template) { return kWordings[static_cast<std::size_t>(chat_template)]; }

struct Alias {
  const char* name;
  ChatTemplate chat_template;
};
constexpr std::array<Alias, 8> kAliases = {{{"plain", ChatTemplate::kPlain},
                                            {"deepseek-llm", ChatTemplate::kDeepSeekLlm},
                                            {"deepseek-v2", ChatTemplate::kDeepSeekLlm},
                                            {"deepseek-math", ChatTemplate::kDeepSeekLlm},
                                            {"deepseek-coder", ChatTemplate::kDeepSeekCoder},
                                            {"deepseek-v2.5", ChatTemplate::kDeepSeekV3},
                                            {"deepseek-v3", ChatTemplate::kDeepSeekV3},
                                            {"deepseek-r1", ChatTemplate::kDeepSeekV3}}};

}  // namespace

const std::vector<std::string>& chat_template_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Alias& alias : kAliases) all.emplace_back(alias.name);
    return all;
  }();
  return names;
}

ChatTemplate chat_template_by_name(const std::string& name) {
  for (const Alias& alias : kAliases) {
    if (name == alias.name) return alias.chat_template;
  }
  const std::optional<std::string> nearest = base::nearest_name(name, chat_template_names());
  throw base::UserError(fmt::format("there is no chat template {}", name), "chat_template",
                        nearest.has_value() ? fmt::format("did you mean {}?", *nearest)
                                            : fmt::format("use one of {}", fmt::join(chat_template_names(), ", ")));
}

ChatTemplate chat_template_for(const formats::Tokenizer& tokenizer, ChatRows rows) {
  const bool has_roles =
      tokenizer.token_id(kUserMarker).has_value() && tokenizer.token_id(kAssistantMarker).has_value();
  const bool has_coder_end = tokenizer.token_id(kCoderEndMarker).has_value();
  // V3's vocabulary has <|EOT|> too, so the role markers are asked first.
  if (has_roles) return ChatTemplate::kDeepSeekV3;
  if (has_coder_end && rows == ChatRows::kInstruction) return ChatTemplate::kDeepSeekCoder;
  const bool is_deepseek_base = tokenizer
                                    .token_id(
                                        "<\xef\xbd\x9c"
                                        "begin\xe2\x96\x81of\xe2\x96\x81sentence\xef\xbd\x9c>")
                                    .has_value();
  if (is_deepseek_base && rows == ChatRows::kMessages) {
    return has_coder_end ? ChatTemplate::kDeepSeekCoder : ChatTemplate::kDeepSeekLlm;
  }
  return ChatTemplate::kPlain;
}

std::vector<std::string> missing_markers(ChatTemplate chat_template, const formats::Tokenizer& tokenizer) {
  std::vector<std::string> missing;
  const auto need = [&](std::string_view marker) {
    if (!tokenizer.token_id(marker).has_value()) missing.emplace_back(marker);
  };
  if (chat_template == ChatTemplate::kDeepSeekV3) {
    need(kUserMarker);
    need(kAssistantMarker);
  }
  if (chat_template == ChatTemplate::kDeepSeekCoder) need(kCoderEndMarker);
  return missing;
}

std::string_view instruction_system_text(ChatTemplate chat_template) {
  return chat_template == ChatTemplate::kDeepSeekCoder ? kCoderInstructionSystem : std::string_view();
}

RenderedChat render_chat(ChatTemplate chat_template, const std::vector<Message>& messages, std::string_view end_of_text,
                         std::string& error) {
  const Wording& wording = wording_of(chat_template);
  const std::string_view end = wording.end_marker.empty() ? end_of_text : wording.end_marker;
  RenderedChat chat;
  bool has_system = false;
  for (const Message& message : messages) has_system = has_system || message.role == "system";
  if (!has_system) chat.text += wording.default_system;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Message& message = messages[i];
    if (message.role == "system") {
      chat.text += message.content;
      chat.text += wording.system_after;
    } else if (message.role == "user") {
      chat.text += wording.user_before;
      chat.text += message.content;
      chat.text += wording.user_after;
    } else if (message.role == "assistant") {
      chat.text += wording.assistant_before;
      const std::size_t begin = chat.text.size();
      chat.text += wording.learnt_prefix;
      chat.text += message.content;
      chat.text += wording.assistant_after;
      chat.text += end;
      chat.learnt.emplace_back(begin, chat.text.size());
      if (i + 1 < messages.size()) chat.text += wording.between;
    } else {
      error = fmt::format("messages[{}] has the role \"{}\"; known are system, user and assistant", i, message.role);
      return {};
    }
  }
  return chat;
}

}  // namespace athanor::data
