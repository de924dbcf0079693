#include "core/data/row_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/core/data/data_case.h"

namespace athanor::data {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

base::JsonValue json(const std::string& text) { return base::parse_json(text, "row"); }

Document encode(const formats::Tokenizer& tokenizer, const std::string& row, const RowRules& rules = {}) {
  RowEncoder encoder(&tokenizer, rules);
  auto document = encoder.encode_object(json(row));
  if (!document.ok()) throw std::runtime_error(document.error());
  EXPECT_EQ(document.value().tokens.size(), document.value().labels.size());
  return document.value();
}

Document encode_text(const formats::Tokenizer& tokenizer, const std::string& text, const RowRules& rules = {}) {
  RowEncoder encoder(&tokenizer, rules);
  return encoder.encode_text(text).value();
}

std::string problem(const std::string& row, const RowRules& rules = {}, const formats::Tokenizer* tokenizer = nullptr) {
  RowEncoder encoder(tokenizer, rules);
  const auto document = encoder.encode_object(json(row));
  return document.ok() ? "" : document.error();
}

std::string text_problem(const std::string& row) {
  const formats::Tokenizer bytes = formats::Tokenizer::bytes();
  return problem(row, {}, &bytes);
}

// ---- plain text

TEST(EncodeText, TextStandsBetweenBosAndEosAndAllOfItIsLearnt) {
  const Document document = encode(deepseek_like(), R"({"text": "abc"})");
  EXPECT_THAT(document.tokens, ElementsAre(kBos, 'a', 'b', 'c', kEos));
  EXPECT_EQ(document.labels, document.tokens);
  EXPECT_EQ(document.kind, DocumentKind::kText);
}

TEST(EncodeText, BosOccursOnceWhenTheTextBringsItsOwn) {
  for (const std::string& own : {kBosText, kBosText + kBosText}) {
    EXPECT_THAT(encode_text(deepseek_like(), own + "abc").tokens, ElementsAre(kBos, 'a', 'b', 'c', kEos)) << own;
  }
}

TEST(EncodeText, EosOccursOnceWhenTheTextBringsItsOwn) {
  EXPECT_THAT(encode_text(deepseek_like(), "abc" + kEosText).tokens, ElementsAre(kBos, 'a', 'b', 'c', kEos));
}

TEST(EncodeText, EdgesCanBeLeftOut) {
  RowRules rules;
  rules.bos = EdgeToken::kNone;
  rules.eos = EdgeToken::kNone;
  EXPECT_THAT(encode_text(deepseek_like(), "abc", rules).tokens, ElementsAre('a', 'b', 'c'));
  EXPECT_THAT(encode_text(deepseek_like(), kBosText + "a", rules).tokens, ElementsAre(kBos, 'a'));
}

// Padding and EOS are one token here. EOS is learnt in each of 20 rows all the same, and no row begins with two BOS, whoever
// puts it there.
TEST(EncodeText, EosIsLearntWherePaddingIsEosAndNoRowBeginsWithTwoBos) {
  const formats::Tokenizer tokenizer = deepseek_like();
  ASSERT_EQ(tokenizer.pad_id(), tokenizer.eos_id());
  for (int i = 0; i < 20; ++i) {
    const std::string text = (i % 2 == 0 ? kBosText : "") + std::string("row ") + std::to_string(i);
    const Document document = encode_text(tokenizer, text);
    EXPECT_EQ(document.labels.back(), kEos) << i;
    EXPECT_EQ(document.tokens[0], kBos) << i;
    EXPECT_NE(document.tokens[1], kBos) << i;
  }
}

TEST(EncodeText, EosInsideATextIsLearntToo) {
  const Document document = encode_text(deepseek_like(), "a" + kEosText + "b");
  EXPECT_THAT(document.labels, ElementsAre(kBos, 'a', kEos, 'b', kEos));
}

TEST(EncodeText, EmptyTextIsBosAndEos) {
  EXPECT_THAT(encode(deepseek_like(), R"({"text": ""})").tokens, ElementsAre(kBos, kEos));
}

TEST(EncodeText, OtherColumnIsReadWhenNamed) {
  RowRules rules;
  rules.text_column = "content";
  EXPECT_THAT(encode(deepseek_like(), R"({"content": "a", "text": "b"})", rules).tokens, ElementsAre(kBos, 'a', kEos));
}

TEST(EncodeText, InvalidUtf8IsRefusedWithTheByte) {
  const formats::Tokenizer bytes = formats::Tokenizer::bytes();
  RowEncoder encoder(&bytes, {});
  EXPECT_EQ(encoder
                .encode_text("ab\xff"
                             "c")
                .error(),
            "the text is no UTF-8 at byte 2");
}

TEST(EncodeText, TextThatIsNoTextIsRefused) {
  EXPECT_EQ(text_problem(R"({"text": 5})"), "text must be text, not a number");
  EXPECT_EQ(text_problem(R"({"text": null})"), "text must be text, not a null");
  EXPECT_EQ(text_problem(R"({"text": ["a"]})"), "text must be text, not a list");
}

TEST(EncodeObject, RowOfUnknownFormNamesWhatItHas) {
  EXPECT_EQ(text_problem(R"({"prompt": "a", "completion": "b"})"),
            "the row has none of input_ids, messages, instruction and text; it has prompt, completion");
  EXPECT_EQ(text_problem(R"(["a"])"), "a row must be an object, not a list");
  EXPECT_EQ(text_problem(R"("a")"), "a row must be an object, not a text");
}

TEST(EncodeObject, ColumnWrittenAsNullIsNotThere) {
  const Document document =
      encode(deepseek_like(), R"({"input_ids": null, "messages": null, "instruction": null, "text": "a"})");
  EXPECT_THAT(document.tokens, ElementsAre(kBos, 'a', kEos));
}

TEST(EncodeObject, TextWithoutTokenizerIsRefusedWithTheReason) {
  for (const char* row : {R"({"text": "a"})", R"({"messages": [{"role": "user", "content": "a"}]})",
                          R"({"instruction": "a", "output": "b"})"}) {
    EXPECT_THAT(problem(row), HasSubstr("there is no tokenizer")) << row;
  }
}

// ---- already tokenised rows

TEST(EncodeIds, IdsWithoutLabelsAreAllLearntAndNothingIsAdded) {
  const Document document = encode(deepseek_like(), R"({"input_ids": [5, 6, 7]})");
  EXPECT_THAT(document.tokens, ElementsAre(5, 6, 7));
  EXPECT_EQ(document.labels, document.tokens);
  EXPECT_EQ(document.kind, DocumentKind::kTokens);
}

TEST(EncodeIds, LabelsStandAtTheirPositions) {
  const Document document = encode(deepseek_like(), R"({"input_ids": [5, 6, 7], "labels": [-100, 6, -100]})");
  EXPECT_THAT(document.tokens, ElementsAre(5, 6, 7));
  EXPECT_THAT(document.labels, ElementsAre(kNoTarget, 6, kNoTarget));
}

TEST(EncodeIds, LabelsMayDifferFromTheIds) {
  EXPECT_THAT(encode(deepseek_like(), R"({"input_ids": [5, 6], "labels": [9, 8]})").labels, ElementsAre(9, 8));
}

TEST(EncodeIds, NoTokenizerIsNeeded) {
  RowEncoder encoder(nullptr, {});
  EXPECT_THAT(encoder.encode_object(json(R"({"input_ids": [5], "labels": null})")).value().labels, ElementsAre(5));
}

struct BadIds {
  const char* row;
  const char* message;
};

TEST(EncodeIds, EveryMalformedRowIsNamed) {
  RowRules rules;
  rules.vocab_size = 10;
  const BadIds cases[] = {
      {R"({"input_ids": 5})", "input_ids must be a list, not a number"},
      {R"({"input_ids": "5 6"})", "input_ids must be a list, not a text"},
      {R"({"input_ids": [1, 2.0]})", "input_ids[1] is no token id: 2.0"},
      {R"({"input_ids": [1, "2"]})", "input_ids[1] is no token id: \"2\""},
      {R"({"input_ids": [1, null]})", "input_ids[1] is no token id: null"},
      {R"({"input_ids": [1, -1]})", "input_ids[1] is no token id: -1"},
      {R"({"input_ids": [1, 3000000000]})", "input_ids[1] is no token id: 3000000000"},
      {R"({"input_ids": [[1]]})", "input_ids[0] is no token id: [1]"},
      {R"({"input_ids": [1, 10]})", "input_ids[1] is 10, the model's vocab_size is 10"},
      {R"({"input_ids": [1, 2], "labels": [1]})", "labels must be a list as long as input_ids (2), not 1"},
      {R"({"input_ids": [1, 2], "labels": 5})", "labels must be a list as long as input_ids (2), not none"},
      {R"({"input_ids": [1, 2], "labels": [1, -1]})", "labels[1] is neither a token id nor -100: -1"},
      {R"({"input_ids": [1, 2], "labels": [1, 10]})", "labels[1] is neither a token id nor -100: 10"},
      {R"({"input_ids": [1, 2], "labels": [1, "x"]})", "labels[1] is neither a token id nor -100: \"x\""},
      {R"({"input_ids": [1, 2], "labels": [1, -100.0]})", "labels[1] is neither a token id nor -100: -100.0"},
  };
  for (const BadIds& bad : cases) EXPECT_EQ(problem(bad.row, rules), bad.message) << bad.row;
}

// ---- conversations

constexpr const char* kTwoTurns =
    R"({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo"},
                     {"role": "user", "content": "Bye"}, {"role": "assistant", "content": "So"}]})";

TEST(EncodeMessages, OnlyResponsesAndTheirEndAreLearnt) {
  const Document document = encode(deepseek_like(), kTwoTurns);
  EXPECT_THAT(document.tokens, ElementsAre(kBos, kUser, 'H', 'i', kAssistant, 'Y', 'o', kEos, kUser, 'B', 'y', 'e',
                                           kAssistant, 'S', 'o', kEos));
  const std::int32_t no = kNoTarget;
  EXPECT_THAT(document.labels, ElementsAre(no, no, no, no, no, 'Y', 'o', kEos, no, no, no, no, no, 'S', 'o', kEos));
  EXPECT_EQ(document.kind, DocumentKind::kConversation);
}

TEST(EncodeMessages, EverythingIsLearntWhenAskedFor) {
  RowRules rules;
  rules.learnt = LearntPart::kEverything;
  const Document document = encode(deepseek_like(), kTwoTurns, rules);
  EXPECT_EQ(document.labels, document.tokens);
}

TEST(EncodeMessages, NamedTemplateWinsOverTheTokenizers) {
  RowRules rules;
  rules.chat_template = ChatTemplate::kDeepSeekCoder;
  const formats::Tokenizer tokenizer = deepseek_like();
  const Document document = encode(tokenizer, kTwoTurns, rules);
  EXPECT_EQ(learnt_text(tokenizer, document.labels), "Yo\n<|EOT|>So\n<|EOT|>");
}

TEST(EncodeMessages, TokenThatReachesAcrossTheEndOfThePromptIsNotLearnt) {
  // The template writes "Assistant:" and then " Yo"; ": " is one token of this vocabulary, which begins in the prompt.
  const formats::Tokenizer tokenizer = deepseek_like_without({kUserText, kAssistantText, kEotText});
  const Document document =
      encode(tokenizer, R"({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo"}]})");
  EXPECT_EQ(tokenizer.decode(document.tokens), kBosText + "User: Hi\n\nAssistant: Yo" + kEosText);
  EXPECT_EQ(learnt_text(tokenizer, document.labels), "Yo" + kEosText);
}

TEST(EncodeMessages, BosOccursOnceWhenTheSystemTextBringsItsOwn) {
  const formats::Tokenizer tokenizer = deepseek_like();
  const Document document =
      encode(tokenizer, R"({"messages": [{"role": "system", "content": ")" + kBosText +
                            R"("}, {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo"}]})");
  EXPECT_THAT(document.tokens, ElementsAre(kBos, kUser, 'H', 'i', kAssistant, 'Y', 'o', kEos));
  EXPECT_EQ(learnt_text(tokenizer, document.labels), "Yo" + kEosText);
}

TEST(EncodeMessages, ResponsesAreFoundThoughTheTokenizerNormalizesTheText) {
  // "e" and a combining acute accent become one character, which has fewer bytes than the text has.
  const formats::Tokenizer tokenizer = deepseek_like_without({}, R"({"type": "NFC"})");
  const Document document = encode(
      tokenizer,
      R"({"messages": [{"role": "user", "content": "caf\u0065\u0301?"}, {"role": "assistant", "content": "th\u0065\u0301"},
                       {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]})");
  EXPECT_EQ(learnt_text(tokenizer, document.labels), "th\xc3\xa9" + kEosText + "b" + kEosText);
  EXPECT_EQ(std::count(document.tokens.begin(), document.tokens.end(), kBos), 1);
}

TEST(EncodeMessages, ChineseResponseIsLearntWhole) {
  const formats::Tokenizer tokenizer = deepseek_like();
  const Document document = encode(
      tokenizer,
      R"({"messages": [{"role": "user", "content": "\u4f60"}, {"role": "assistant", "content": "\u597d\u7684"}]})");
  EXPECT_EQ(learnt_text(tokenizer, document.labels), "\xe5\xa5\xbd\xe7\x9a\x84" + kEosText);
}

TEST(EncodeMessages, EmptyResponseTeachesItsEndOnly) {
  const formats::Tokenizer tokenizer = deepseek_like();
  const Document document =
      encode(tokenizer, R"({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": ""}]})");
  EXPECT_EQ(learnt_text(tokenizer, document.labels), kEosText);
}

TEST(EncodeMessages, ConversationWithoutResponseHasNoTarget) {
  const Document document = encode(deepseek_like(), R"({"messages": [{"role": "user", "content": "Hi"}]})");
  EXPECT_THAT(document.labels, Each(kNoTarget));
}

TEST(EncodeMessages, EveryMalformedRowIsNamed) {
  const BadIds cases[] = {
      {R"({"messages": []})", "messages must be a list of {role, content}"},
      {R"({"messages": {"role": "user"}})", "messages must be a list of {role, content}"},
      {R"({"messages": "Hi"})", "messages must be a list of {role, content}"},
      {R"({"messages": ["Hi"]})", "messages[0] must have role and content as text"},
      {R"({"messages": [{"role": "user"}]})", "messages[0] must have role and content as text"},
      {R"({"messages": [{"content": "Hi"}]})", "messages[0] must have role and content as text"},
      {R"({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": null}]})",
       "messages[1] must have role and content as text"},
      {R"({"messages": [{"role": "user", "content": [{"type": "text"}]}]})",
       "messages[0] must have role and content as text"},
      {R"({"messages": [{"role": 1, "content": "Hi"}]})", "messages[0] must have role and content as text"},
      {R"({"messages": [{"role": "human", "content": "Hi"}]})",
       "messages[0] has the role \"human\"; known are system, user and assistant"},
  };
  for (const BadIds& bad : cases) EXPECT_EQ(text_problem(bad.row), bad.message) << bad.row;
}

// ---- instructions

RowRules coder_rules() {
  RowRules rules;
  rules.chat_template = ChatTemplate::kDeepSeekCoder;
  return rules;
}

TEST(EncodeInstruction, TokensAreThoseOfTheWholeTextAndTheOutputIsLearnt) {
  const formats::Tokenizer tokenizer = deepseek_like_without({kUserText, kAssistantText});
  const Document document = encode(tokenizer, R"({"instruction": " sort the list \n", "output": "sorted x"})");
  const std::string text = tokenizer.decode(document.tokens);
  // The spelling of the published fine-tuning script, which is not that of the chat template.
  EXPECT_EQ(text, kBosText +
                      "You are an AI programming assistant, utilizing the DeepSeek Coder model, developed by DeepSeek "
                      "Company, and you only answer questions related to computer science. For politically sensitive "
                      "questions, security and privacy issues, and other non-computer science questions, you will "
                      "refuse to answer.\n### Instruction:\nsort the list\n### Response:\nsorted x\n<|EOT|>");
  EXPECT_EQ(learnt_text(tokenizer, document.labels), "sorted x\n<|EOT|>");
  Ids expected = {kBos};
  const Ids rest = tokenizer.encode(text.substr(kBosText.size()));
  expected.insert(expected.end(), rest.begin(), rest.end());
  EXPECT_THAT(document.tokens, ElementsAreArray(expected));
}

TEST(EncodeInstruction, InputFollowsTheInstruction) {
  const formats::Tokenizer tokenizer = deepseek_like();
  const std::string text =
      tokenizer.decode(encode(tokenizer, R"({"instruction": "add", "input": "1 2", "output": "3"})").tokens);
  EXPECT_EQ(text, kBosText + kUserText + "add\n1 2" + kAssistantText + "3" + kEosText);
}

TEST(EncodeInstruction, EmptyOrMissingInputLeavesNoTrace) {
  const formats::Tokenizer tokenizer = deepseek_like();
  const Document without = encode(tokenizer, R"({"instruction": "add", "output": "3"})");
  EXPECT_EQ(encode(tokenizer, R"({"instruction": "add", "input": "", "output": "3"})").tokens, without.tokens);
  EXPECT_EQ(encode(tokenizer, R"({"instruction": "add", "input": null, "output": "3"})").tokens, without.tokens);
}

TEST(EncodeInstruction, EveryMalformedRowIsNamed) {
  const BadIds cases[] = {
      {R"({"instruction": "add"})", "a row with instruction needs output"},
      {R"({"instruction": "add", "output": null})", "a row with instruction needs output"},
      {R"({"instruction": 5, "output": "3"})", "instruction must be text, not a number"},
      {R"({"instruction": "add", "output": 3})", "output must be text, not a number"},
      {R"({"instruction": "add", "input": [1], "output": "3"})", "input must be text, not a list"},
  };
  for (const BadIds& bad : cases) EXPECT_EQ(text_problem(bad.row), bad.message) << bad.row;
}

TEST(EncodeInstruction, TemplateOfDeepSeekCoderCanBeNamedForAnyTokenizerThatHasItsEnd) {
  const formats::Tokenizer tokenizer = deepseek_like();
  const Document document = encode(tokenizer, R"({"instruction": "add", "output": "3"})", coder_rules());
  EXPECT_EQ(document.labels.back(), kEot);
  EXPECT_EQ(learnt_text(tokenizer, document.labels), "3\n<|EOT|>");
}

}  // namespace
}  // namespace athanor::data
