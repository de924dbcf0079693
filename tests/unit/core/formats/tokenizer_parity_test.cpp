// Ids, pieces and texts against Hugging Face tokenizers (tests/parity/tokenizer/README.md).
#include <gtest/gtest.h>

#include "core/formats/byte_alphabet.h"
#include "core/formats/pre_tokenizer.h"
#include "core/formats/stream_decoder.h"
#include "core/formats/tokenizer.h"
#include "tests/unit/core/formats/tokenizer_files.h"

namespace athanor::formats {
namespace {

using testing::ids_of;

std::vector<std::string> pieces_of(const PreTokenizer& pre_tokenizer, std::string_view text) {
  RegexMatcher matcher;
  PieceList list;
  pre_tokenizer.split(text, matcher, list);
  std::vector<std::string> out;
  for (const std::string_view piece : list.pieces) out.push_back(alphabet_text(piece));
  return out;
}

std::string stream(const Tokenizer& tokenizer, const std::vector<std::int32_t>& ids, SpecialText special) {
  StreamDecoder decoder(tokenizer, special);
  std::string text;
  for (const std::int32_t id : ids) text += decoder.push(id);
  return text + decoder.finish();
}

TEST(TokenizerParity, DeepSeekV4GivesTheReferenceIdsAndTextsForAll450) {
  const Tokenizer& tokenizer = testing::deepseek("v4");
  TokenEncoder encoder(tokenizer);
  const auto cases = testing::read_json_lines(testing::parity_file("deepseek_v4.jsonl"));
  ASSERT_EQ(cases.size(), 450u);
  for (const base::JsonValue& item : cases) {
    const std::string& text = item.find("text")->as_string();
    const std::vector<std::int32_t> expected = ids_of(*item.find("ids"));
    EXPECT_EQ(tokenizer.encode(text), expected) << text;
    std::vector<std::int32_t> warm;
    encoder.encode(text, SpecialTokens::kNone, warm);
    EXPECT_EQ(warm, expected) << text;
    EXPECT_EQ(tokenizer.decode(expected), item.find("decoded")->as_string());
    EXPECT_EQ(stream(tokenizer, expected, SpecialText::kKeep), item.find("decoded")->as_string());
  }
}

class DeepSeekGenerations : public ::testing::TestWithParam<const char*> {};

TEST_P(DeepSeekGenerations, PiecesIdsAndTextsAreThoseOfTheReference) {
  const Tokenizer& tokenizer = testing::deepseek(GetParam());
  const PreTokenizer fast = testing::read_pre_tokenizer(GetParam(), PreTokenizerEngine::kFastest);
  const PreTokenizer regex = testing::read_pre_tokenizer(GetParam(), PreTokenizerEngine::kRegex);
  EXPECT_NE(fast.scanner(), nullptr);
  EXPECT_EQ(regex.scanner(), nullptr);
  const base::JsonValue vectors = base::parse_json_file(testing::parity_file("vectors.json"));
  const auto& cases = vectors.find(GetParam())->items();
  ASSERT_EQ(cases.size(), 25u);
  for (const base::JsonValue& item : cases) {
    const std::string& text = item.find("text")->as_string();
    EXPECT_EQ(tokenizer.encode(text), ids_of(*item.find("ids"))) << text;
    EXPECT_EQ(tokenizer.decode(ids_of(*item.find("ids"))), item.find("decoded")->as_string());
    const std::vector<std::string> pieces = testing::texts_of(*item.find("pieces_pre"));
    EXPECT_EQ(pieces_of(fast, text), pieces) << text;
    EXPECT_EQ(pieces_of(regex, text), pieces) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(All, DeepSeekGenerations, ::testing::Values("v2", "v3", "v4"));

class SmallPipelines : public ::testing::TestWithParam<std::string> {};

TEST_P(SmallPipelines, PiecesIdsAndTextsAreThoseOfTheReference) {
  const Tokenizer tokenizer = Tokenizer::load(testing::tokenizer_path(GetParam()));
  const PreTokenizer fast = testing::read_pre_tokenizer(GetParam(), PreTokenizerEngine::kFastest);
  const PreTokenizer regex = testing::read_pre_tokenizer(GetParam(), PreTokenizerEngine::kRegex);
  const auto cases = testing::read_json_lines(testing::parity_file("small/" + GetParam() + ".jsonl"));
  ASSERT_EQ(cases.size(), 88u);
  for (const base::JsonValue& item : cases) {
    const std::string& text = item.find("text")->as_string();
    const std::vector<std::int32_t> expected = ids_of(*item.find("ids"));
    EXPECT_EQ(tokenizer.encode(text, SpecialTokens::kAdd), expected) << text;
    EXPECT_EQ(tokenizer.decode(expected), item.find("decoded")->as_string());
    EXPECT_EQ(tokenizer.decode(expected, SpecialText::kSkip), item.find("skipped")->as_string());
    EXPECT_EQ(stream(tokenizer, expected, SpecialText::kSkip), item.find("skipped")->as_string());
    const std::vector<std::string> pieces = testing::texts_of(*item.find("pieces"));
    EXPECT_EQ(pieces_of(fast, text), pieces) << text;
    EXPECT_EQ(pieces_of(regex, text), pieces) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SmallPipelines, ::testing::ValuesIn(testing::small_pipelines()));

}  // namespace
}  // namespace athanor::formats
