#include "core/data/chat_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/unit/core/data/data_case.h"

namespace athanor::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<Message> kTwoTurns = {
    {"user", "Hi"}, {"assistant", "Hello"}, {"user", "Bye"}, {"assistant", "See you"}};

RenderedChat render(ChatTemplate chat_template, const std::vector<Message>& messages) {
  std::string error;
  RenderedChat chat = render_chat(chat_template, messages, "</s>", error);
  EXPECT_EQ(error, "");
  return chat;
}

std::vector<std::string> learnt(const RenderedChat& chat) {
  std::vector<std::string> parts;
  for (const auto& [begin, end] : chat.learnt) parts.push_back(chat.text.substr(begin, end - begin));
  return parts;
}

constexpr const char* kCoderSystem =
    "You are an AI programming assistant, utilizing the Deepseek Coder model, developed by Deepseek Company, and you "
    "only answer questions related to computer science. For politically sensitive questions, security and privacy "
    "issues, and other non-computer science questions, you will refuse to answer\n";

TEST(RenderChat, DeepSeekLlmWritesRolesAsWords) {
  const RenderedChat chat = render(ChatTemplate::kDeepSeekLlm, kTwoTurns);
  EXPECT_EQ(chat.text, "User: Hi\n\nAssistant: Hello</s>User: Bye\n\nAssistant: See you</s>");
  EXPECT_THAT(learnt(chat), ElementsAre(" Hello</s>", " See you</s>"));
}

TEST(RenderChat, DeepSeekLlmPutsTheSystemTextInFront) {
  EXPECT_EQ(render(ChatTemplate::kDeepSeekLlm, {{"system", "Be short."}, {"user", "Hi"}}).text,
            "Be short.\n\nUser: Hi\n\n");
}

TEST(RenderChat, DeepSeekCoderHasItsOwnSystemTextAndEndToken) {
  const RenderedChat chat = render(ChatTemplate::kDeepSeekCoder, kTwoTurns);
  EXPECT_EQ(chat.text, kCoderSystem + std::string("### Instruction:\nHi\n### Response:\nHello\n<|EOT|>\n"
                                                  "### Instruction:\nBye\n### Response:\nSee you\n<|EOT|>"));
  EXPECT_THAT(learnt(chat), ElementsAre("Hello\n<|EOT|>", "See you\n<|EOT|>"));
}

TEST(RenderChat, DeepSeekCoderTakesTheSystemTextOfTheConversationInPlaceOfItsOwn) {
  EXPECT_EQ(render(ChatTemplate::kDeepSeekCoder, {{"system", "Be short.\n"}, {"user", "Hi"}}).text,
            "Be short.\n### Instruction:\nHi\n");
}

TEST(RenderChat, DeepSeekV3UsesMarkerTokens) {
  const RenderedChat chat = render(ChatTemplate::kDeepSeekV3, kTwoTurns);
  EXPECT_EQ(chat.text,
            kUserText + "Hi" + kAssistantText + "Hello</s>" + kUserText + "Bye" + kAssistantText + "See you</s>");
  EXPECT_THAT(learnt(chat), ElementsAre("Hello</s>", "See you</s>"));
}

TEST(RenderChat, DeepSeekV3PutsTheSystemTextDirectlyInFront) {
  EXPECT_EQ(render(ChatTemplate::kDeepSeekV3, {{"system", "Be short."}, {"user", "Hi"}}).text,
            "Be short." + kUserText + "Hi");
}

TEST(RenderChat, PlainNeedsNoTokenOfItsOwn) {
  const RenderedChat chat =
      render(ChatTemplate::kPlain, {{"system", "Be short."}, {"user", "Hi"}, {"assistant", "Hello"}});
  EXPECT_EQ(chat.text, "Be short.\n\n### Instruction:\nHi\n### Response:\nHello</s>");
  EXPECT_THAT(learnt(chat), ElementsAre("Hello</s>"));
}

TEST(RenderChat, PlainSeparatesTurnsByANewlineThatIsNotLearnt) {
  const RenderedChat chat = render(ChatTemplate::kPlain, kTwoTurns);
  EXPECT_EQ(chat.text,
            "### Instruction:\nHi\n### Response:\nHello</s>\n### Instruction:\nBye\n### Response:\nSee you</s>");
  EXPECT_THAT(learnt(chat), ElementsAre("Hello</s>", "See you</s>"));
}

TEST(RenderChat, ConversationWithoutResponseLearnsNothing) {
  EXPECT_THAT(render(ChatTemplate::kDeepSeekV3, {{"user", "Hi"}}).learnt, IsEmpty());
}

TEST(RenderChat, UnknownRoleIsNamedWithItsPlace) {
  std::string error;
  const RenderedChat chat = render_chat(ChatTemplate::kPlain, {{"user", "Hi"}, {"tool", "4"}}, "</s>", error);
  EXPECT_EQ(error, "messages[1] has the role \"tool\"; known are system, user and assistant");
  EXPECT_EQ(chat.text, "");
}

TEST(ChatTemplateByName, EveryNameAndAliasIsKnown) {
  const std::vector<std::pair<std::string, ChatTemplate>> expected = {{"plain", ChatTemplate::kPlain},
                                                                      {"deepseek-llm", ChatTemplate::kDeepSeekLlm},
                                                                      {"deepseek-v2", ChatTemplate::kDeepSeekLlm},
                                                                      {"deepseek-math", ChatTemplate::kDeepSeekLlm},
                                                                      {"deepseek-coder", ChatTemplate::kDeepSeekCoder},
                                                                      {"deepseek-v2.5", ChatTemplate::kDeepSeekV3},
                                                                      {"deepseek-v3", ChatTemplate::kDeepSeekV3},
                                                                      {"deepseek-r1", ChatTemplate::kDeepSeekV3}};
  std::vector<std::string> names;
  for (const auto& [name, chat_template] : expected) {
    EXPECT_EQ(chat_template_by_name(name), chat_template) << name;
    names.push_back(name);
  }
  EXPECT_THAT(chat_template_names(), ::testing::UnorderedElementsAreArray(names));
}

TEST(ChatTemplateByName, MisspeltNameGetsTheNearest) {
  try {
    chat_template_by_name("deepseek-corder");
    FAIL();
  } catch (const base::UserError& error) {
    EXPECT_THAT(error.problems().front().what, HasSubstr("deepseek-corder"));
    EXPECT_EQ(error.problems().front().where, "chat_template");
    EXPECT_THAT(error.problems().front().remedy, HasSubstr("deepseek-coder"));
  }
}

TEST(ChatTemplateByName, NameFarFromAllGetsTheList) {
  try {
    chat_template_by_name("zephyr-of-the-west");
    FAIL();
  } catch (const base::UserError& error) {
    EXPECT_THAT(error.problems().front().remedy, HasSubstr("use one of plain, deepseek-llm"));
  }
}

TEST(ChatTemplateFor, RoleMarkersMeanV3) {
  EXPECT_EQ(chat_template_for(deepseek_like(), ChatRows::kMessages), ChatTemplate::kDeepSeekV3);
  EXPECT_EQ(chat_template_for(deepseek_like(), ChatRows::kInstruction), ChatTemplate::kDeepSeekV3);
}

TEST(ChatTemplateFor, EndTokenWithoutRoleMarkersMeansCoder) {
  const formats::Tokenizer coder = deepseek_like_without({kUserText, kAssistantText});
  EXPECT_EQ(chat_template_for(coder, ChatRows::kMessages), ChatTemplate::kDeepSeekCoder);
  EXPECT_EQ(chat_template_for(coder, ChatRows::kInstruction), ChatTemplate::kDeepSeekCoder);
}

TEST(ChatTemplateFor, BaseTokenizerHasItsOwnForConversationsAndPlainForInstructions) {
  const formats::Tokenizer llm = deepseek_like_without({kUserText, kAssistantText, kEotText});
  EXPECT_EQ(chat_template_for(llm, ChatRows::kMessages), ChatTemplate::kDeepSeekLlm);
  EXPECT_EQ(chat_template_for(llm, ChatRows::kInstruction), ChatTemplate::kPlain);
}

TEST(ChatTemplateFor, OtherTokenizersGetPlain) {
  EXPECT_EQ(chat_template_for(formats::Tokenizer::bytes(), ChatRows::kMessages), ChatTemplate::kPlain);
  EXPECT_EQ(chat_template_for(formats::Tokenizer::bytes(), ChatRows::kInstruction), ChatTemplate::kPlain);
}

TEST(MissingMarkers, NamesWhatATemplateNeedsAndATokenizerLacks) {
  const formats::Tokenizer bytes = formats::Tokenizer::bytes();
  EXPECT_THAT(missing_markers(ChatTemplate::kDeepSeekV3, bytes), ElementsAre(kUserText, kAssistantText));
  EXPECT_THAT(missing_markers(ChatTemplate::kDeepSeekCoder, bytes), ElementsAre(kEotText));
  EXPECT_THAT(missing_markers(ChatTemplate::kDeepSeekLlm, bytes), IsEmpty());
  EXPECT_THAT(missing_markers(ChatTemplate::kPlain, bytes), IsEmpty());
  EXPECT_THAT(missing_markers(ChatTemplate::kDeepSeekV3, deepseek_like()), IsEmpty());
  EXPECT_THAT(missing_markers(ChatTemplate::kDeepSeekV3, deepseek_like_without({kUserText})), ElementsAre(kUserText));
}

}  // namespace
}  // namespace athanor::data
