#include "core/formats/tokenizer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/base/unicode.h"
#include "core/formats/stream_decoder.h"
#include "core/formats/tokenizer_json.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/core/formats/tokenizer_files.h"

namespace athanor::formats {
namespace {

using athanor::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string small(const std::string& name) { return base::read_file(testing::parity_file("small/" + name + ".json")); }

std::string random_text(base::RandomStream& random, bool valid) {
  std::string text;
  for (std::uint64_t i = random.below(80) + 1; i > 0; --i) {
    if (!valid && random.below(4) == 0) {
      text += static_cast<char>(random.below(256));
    } else {
      const std::uint64_t limit = random.below(3) == 0 ? 0x110000 : 0x300;
      base::append_utf8(text, static_cast<char32_t>(random.below(limit)));
    }
  }
  return text;
}

// Fails for texts that name added tokens or spaces that a pre-tokenizer adds; these tokenizers have neither in reach.
TEST(Tokenizer, DecodingGivesTheTextBackForAnyValidText) {
  std::vector<Tokenizer> tokenizers = {Tokenizer::bytes()};
  for (const char* name : {"v2", "v3"}) tokenizers.push_back(testing::deepseek(name));
  for (const char* name : {"llama3", "deepseek_coder", "whole"}) {
    tokenizers.push_back(Tokenizer::load(testing::parity_file(std::string("small/") + name + ".json")));
  }
  base::RandomStream random(11, 1);
  for (const Tokenizer& tokenizer : tokenizers) {
    TokenEncoder encoder(tokenizer);
    for (int i = 0; i < 700 / testing::kShare; ++i) {
      const std::string text = random_text(random, true);
      std::vector<std::int32_t> ids;
      encoder.encode(text, SpecialTokens::kNone, ids);
      ASSERT_EQ(tokenizer.decode(ids), text) << fmt::format("{:?}", text);
      ASSERT_EQ(tokenizer.encode(text), ids) << "the cache of words changed the ids";
    }
  }
}

TEST(Tokenizer, MalformedBytesAreReadAsTheReplacementCharacter) {
  const Tokenizer& tokenizer = testing::deepseek("v3");
  base::RandomStream random(11, 2);
  for (int i = 0; i < 1000 / testing::kShare; ++i) {
    const std::string text = random_text(random, false);
    const std::string replaced = base::replace_invalid_utf8(text);
    ASSERT_EQ(tokenizer.encode(text), tokenizer.encode(replaced));
    ASSERT_EQ(tokenizer.decode(tokenizer.encode(text)), replaced);
  }
}

TEST(Tokenizer, EncoderAppendsAndKeepsWhatWasThere) {
  const Tokenizer tokenizer = Tokenizer::bytes();
  TokenEncoder encoder(tokenizer);
  std::vector<std::int32_t> ids = {7};
  encoder.encode("ab", SpecialTokens::kAdd, ids);
  encoder.encode("", SpecialTokens::kNone, ids);
  EXPECT_THAT(ids, ElementsAre(7, 256, 'a', 'b'));
}

TEST(Tokenizer, BytesHasOneTokenForEachByteAndThreeMore) {
  const Tokenizer tokenizer = Tokenizer::load("bytes");
  EXPECT_EQ(tokenizer.vocab_size(), 259);
  EXPECT_EQ(tokenizer.num_tokens(), 259u);
  EXPECT_EQ(tokenizer.bos_id(), 256);
  EXPECT_EQ(tokenizer.eos_id(), 257);
  EXPECT_EQ(tokenizer.pad_id(), 258);
  EXPECT_THAT(tokenizer.encode("h\xc3\xa9<|eos|>", SpecialTokens::kAdd), ElementsAre(256, 'h', 0xc3, 0xa9, 257));
  EXPECT_EQ(tokenizer.token_text(0x20), "\u0120");
  EXPECT_EQ(tokenizer.token_bytes(0x20), " ");
}

TEST(Tokenizer, ASavedOneLoadsAsTheSame) {
  const TemporaryFolder folder;
  std::vector<Tokenizer> tokenizers = {Tokenizer::bytes(), testing::deepseek("v2")};
  for (const Tokenizer& tokenizer : tokenizers) {
    tokenizer.save(folder.file("saved"));
    const Tokenizer loaded = Tokenizer::load(folder.file("saved"));
    EXPECT_EQ(loaded.fingerprint(), tokenizer.fingerprint());
    EXPECT_EQ(loaded.files(), tokenizer.files());
    EXPECT_EQ(loaded.prefix_ids(), tokenizer.prefix_ids());
    EXPECT_EQ(loaded.eos_id(), tokenizer.eos_id());
  }
}

TEST(Tokenizer, DeepSeekFilesNameTheirSpecialTokens) {
  const Tokenizer& v2 = testing::deepseek("v2");
  EXPECT_EQ(v2.bos_id(), 100000);
  EXPECT_EQ(v2.eos_id(), 100001);
  EXPECT_EQ(v2.pad_id(), 100001);
  EXPECT_THAT(v2.prefix_ids(), ElementsAre(100000));  // add_bos_token true
  EXPECT_EQ(v2.vocab_size(), 100002);
  EXPECT_EQ(v2.model_max_length(), 16384);
  EXPECT_THAT(v2.chat_template(), HasSubstr("User: "));
  EXPECT_TRUE(v2.is_special(100000));
  const Tokenizer& v3 = testing::deepseek("v3");
  EXPECT_EQ(v3.bos_id(), 0);
  EXPECT_TRUE(v3.prefix_ids().empty());  // add_bos_token false
  EXPECT_EQ(v3.vocab_size(), 128815);
  EXPECT_EQ(v3.token_id("<think>"), 128798);
  EXPECT_FALSE(v3.is_special(128798));
  EXPECT_EQ(testing::deepseek("v4").token_id("<think>"), 128821);
}

TEST(Tokenizer, IdsWithoutATokenDecodeToNothing) {
  const Tokenizer tokenizer = Tokenizer::bytes();
  EXPECT_EQ(tokenizer.decode(std::vector<std::int32_t>{'a', 5000, -1, 'b'}), "ab");
  EXPECT_FALSE(tokenizer.has_token(5000));
  EXPECT_EQ(tokenizer.token_text(-1), "");
}

TEST(Tokenizer, TheFingerprintFollowsEverythingThatChangesIds) {
  const TemporaryFolder folder;
  folder.write("a/tokenizer.json", small("gpt2"));
  const std::string plain = Tokenizer::load(folder.file("a")).fingerprint();
  folder.write("a/tokenizer_config.json", R"({"bos_token":"<s>"})");
  const std::string with_bos = Tokenizer::load(folder.file("a")).fingerprint();
  folder.write("a/tokenizer_config.json", R"({"bos_token":"<s>","add_bos_token":true})");
  const std::string adding_bos = Tokenizer::load(folder.file("a")).fingerprint();
  EXPECT_NE(plain, with_bos);
  EXPECT_NE(with_bos, adding_bos);
  folder.write("a/tokenizer_config.json", R"({"bos_token":"<s>","add_bos_token":true,"model_max_length":5})");
  EXPECT_EQ(Tokenizer::load(folder.file("a")).fingerprint(), adding_bos);
}

TEST(TokenizerSettings, ConfigDecidesOverTheTemplateOfTokenizerJson) {
  const TemporaryFolder folder;
  folder.write("a/tokenizer.json", small("llama3"));  // its template puts <s> before and </s> after
  EXPECT_EQ(Tokenizer::load(folder.file("a")).encode("", SpecialTokens::kAdd).size(), 2u);
  folder.write("a/tokenizer_config.json", R"({"bos_token":"<s>","eos_token":{"content":"</s>"},"add_bos_token":true})");
  const Tokenizer tokenizer = Tokenizer::load(folder.file("a"));
  EXPECT_EQ(tokenizer.encode("", SpecialTokens::kAdd), std::vector<std::int32_t>{*tokenizer.bos_id()});
  EXPECT_TRUE(tokenizer.suffix_ids().empty());
  EXPECT_EQ(tokenizer.eos_id(), *tokenizer.bos_id() + 1);
}

TEST(TokenizerSettings, OldAndNewPlacesOfSpecialTokensAndTemplatesAreRead) {
  const TemporaryFolder folder;
  folder.write("a/tokenizer.json", small("gpt2"));
  folder.write("a/special_tokens_map.json", R"({"eos_token":{"content":"</s>","lstrip":false}})");
  folder.write("a/chat_template.jinja", "new");
  folder.write("a/tokenizer_config.json", R"({"eos_token":"<s>","chat_template":"old","model_max_length":1e30})");
  const Tokenizer old_way = Tokenizer::load(folder.file("a"));
  EXPECT_EQ(old_way.eos_id(), old_way.token_id("</s>"));
  EXPECT_EQ(old_way.chat_template(), "new");
  EXPECT_FALSE(old_way.model_max_length().has_value());
  folder.write("a/tokenizer_config.json", R"({"eos_token":"<s>","added_tokens_decoder":{"600":{"content":"<new>"}}})");
  const Tokenizer new_way = Tokenizer::load(folder.file("a"));
  EXPECT_EQ(new_way.eos_id(), new_way.token_id("<s>"));
  EXPECT_THAT(new_way.encode("<new>"), ElementsAre(600));
  EXPECT_EQ(new_way.vocab_size(), 601);
}

std::string load_failure(const std::string& path) {
  try {
    Tokenizer::load(path);
  } catch (const base::UserError& error) {
    for (const base::Problem& problem : error.problems()) {
      EXPECT_FALSE(problem.where.empty()) << problem.what;
      EXPECT_FALSE(problem.remedy.empty()) << problem.what;
    }
    return error.what();
  }
  return "";
}

TEST(TokenizerSettings, ATokenizerAndAConfigThatDisagreeAreRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"bos_token":"<nowhere>"})", "bos_token \"<nowhere>\" is not in the vocabulary"},
      {R"({"added_tokens_decoder":{"7":{"content":"<s>"}}})", "gives the id 7 to \"<s>\""},
      {R"({"added_tokens_decoder":{"7":{"content":"<new>"}}})", "that id to another token"},
      {R"({"added_tokens_decoder":{"x":{"content":"<new>"}}})", "needs ids"},
      {R"({"added_tokens_decoder":[]})", "must be an object"},
      {R"({"eos_token":5})", "must be a token's text"},
      {R"({"add_bos_token":"yes"})", "must be true/false"},
      {R"(["a"])", "must be a JSON object"},
      {R"({"bos_token")", "tokenizer_config.json"},
  };
  const TemporaryFolder folder;
  folder.write("tokenizer.json", small("gpt2"));
  for (const auto& [config, expected] : cases) {
    folder.write("tokenizer_config.json", config);
    EXPECT_THAT(load_failure(folder.path()), HasSubstr(expected)) << config;
  }
}

TEST(TokenizerLoading, WhatIsMissingIsNamed) {
  const TemporaryFolder folder;
  EXPECT_THAT(load_failure(folder.file("none")), HasSubstr("does not exist"));
  EXPECT_THAT(load_failure(folder.path()), HasSubstr("no tokenizer.json"));
  folder.write("tokenizer.model", "x");
  EXPECT_THAT(load_failure(folder.path()), HasSubstr("SentencePiece"));
}

// A change of tokenizer.json: `from` replaced by `to`, and the message expected.
struct Edit {
  const char* from;
  const char* to;
  const char* expected;
};

TEST(TokenizerLoading, WhatIsNotSupportedOrContradictoryIsRefusedByName) {
  const Edit edits[] = {
      {"\"type\": \"BPE\"", "\"type\": \"Unigram\"", "model type Unigram"},
      {"\"version\": \"1.0\"", "\"version\": \"2.0\"", "version \"2.0\""},
      {"\"byte_fallback\": false", "\"byte_fallback\": true", "byte_fallback"},
      {"\"dropout\": null", "\"dropout\": 0.1", "dropout"},
      {"\"end_of_word_suffix\": null", "\"end_of_word_suffix\": \"</w>\"", "end_of_word_suffix"},
      {"\"normalizer\": null", "\"normalizer\": {\"type\": \"Lowercase\"}", "normalizer \"Lowercase\""},
      {"\"post_processor\": null", "\"post_processor\": {\"type\": \"BertProcessing\"}",
       "post-processor \"BertProcessing\""},
      {"\"decoder\": {\n  \"type\": \"ByteLevel\"", "\"decoder\": {\n  \"type\": \"Metaspace\"",
       "decoder \"Metaspace\""},
      {"\"pre_tokenizer\": {\n  \"type\": \"ByteLevel\"", "\"pre_tokenizer\": {\n  \"type\": \"Whitespace\"",
       "\"Whitespace\""},
      {"\"pre_tokenizer\"", "\"pre_tokenizers\"", "no \"pre_tokenizer\""},
      {"\"vocab\"", "\"vocabulary\"", "no \"vocab\""},
      {"\"merges\"", "\"merge\"", "no \"merges\""},
      {"\"model\"", "\"models\"", "no \"model\""},
      {"\"!\": 0", "\"!\": 1", "the id 1 belongs to two tokens"},
      {"\"!\": 0", "\"\\\"\": 0", "stands in the vocabulary twice"},
      {"\"!\": 0", "\"!\": -4", "out of range"},
      {"\"!\": 0", "\"!\": 3000000", "out of range"},
      {"\"!\": 0", "\"!\": 0.5", "expected"},
      {"\"id\": 520", "\"id\": 3", "has another token of that id"},
      {"\"id\": 520", "\"id\": 521", "belongs to two added tokens"},
      {"\"content\": \"<s>\"", "\"content\": \"\"", "needs an \"id\""},
      {"\"content\": \"<s>\"", "\"content\": \"A\"", "the vocabulary has the id"},
  };
  const TemporaryFolder folder;
  for (const Edit& edit : edits) {
    std::string content = small("gpt2");
    const std::size_t place = content.find(edit.from);
    ASSERT_NE(place, std::string::npos) << edit.from;
    content.replace(place, std::string(edit.from).size(), edit.to);
    folder.write("tokenizer.json", content);
    EXPECT_THAT(load_failure(folder.path()), HasSubstr(edit.expected)) << edit.to;
  }
}

TEST(TokenizerLoading, EveryProblemIsShownAtOnce) {
  const TemporaryFolder folder;
  std::string content = small("gpt2");
  for (const auto& [from, to] : {std::pair("\"normalizer\": null", "\"normalizer\": {\"type\": \"NFKC\"}"),
                                 std::pair("\"byte_fallback\": false", "\"byte_fallback\": true")}) {
    content.replace(content.find(from), std::string(from).size(), to);
  }
  folder.write("tokenizer.json", content);
  const std::string failure = load_failure(folder.path());
  EXPECT_THAT(failure, HasSubstr("NFKC"));
  EXPECT_THAT(failure, HasSubstr("byte_fallback"));
  EXPECT_THAT(failure, HasSubstr("tokenizer.json:"));
}

TEST(TokenizerLoading, BadMergesAreNamedWithTheirLine) {
  const std::pair<const char*, const char*> cases[] = {
      {R"(["a b", "a b"])", "tokenizer.json:1:"},
      {R"(["ab"])", "two tokens with one space"},
      {R"(["a b c"])", "two tokens with one space"},
      {R"(["a z"])", "\"z\", which is not in the vocabulary"},
      {R"(["b a"])", "\"ba\", which is not"},
      {R"([["a"]])", "expected"},
      {R"([3])", "expected"},
  };
  const TemporaryFolder folder;
  for (const auto& [merges, expected] : cases) {
    folder.write("tokenizer.json", std::string(R"({"model":{"vocab":{"a":0,"b":1,"ab":2},"merges":)") + merges + "}}");
    EXPECT_THAT(load_failure(folder.path()), HasSubstr(expected)) << merges;
  }
}

TEST(TokenizerLoading, EveryTruncationIsRefused) {
  const std::string content = small("llama3");
  for (std::size_t size = 0; size + 2 < content.size(); size += size < 2500 || size + 100 > content.size() ? 1 : 53) {
    try {
      parse_tokenizer_json(std::string_view(content).substr(0, size), "t.json");
      ADD_FAILURE() << "cut to " << size;
    } catch (const base::UserError& error) {
      EXPECT_FALSE(error.problems().front().where.empty());
    }
  }
}

// Each byte changed: a tokenizer or a refusal, never a crash.
TEST(TokenizerLoading, AnyFlippedByteGivesATokenizerOrARefusal) {
  const std::string content = small("whole");
  for (std::size_t i = 0; i < content.size(); i += i < 2500 ? testing::kShare : 53) {
    std::string flipped = content;
    flipped[i] = static_cast<char>(flipped[i] ^ (i % 2 == 0 ? 0x04 : 0x80));
    try {
      parse_tokenizer_json(flipped, "t.json");
    } catch (const base::UserError& error) {
      EXPECT_FALSE(error.problems().empty());
    }
  }
}

TEST(TokenizerLoading, TruncationAndPaddingAreLeftAsideAndSaid) {
  const TemporaryFolder folder;
  std::string content = small("gpt2");
  const std::string from = "\"truncation\": null";
  content.replace(content.find(from), from.size(), "\"truncation\": {\"max_length\": 2}");
  folder.write("tokenizer.json", content);
  const Tokenizer tokenizer = Tokenizer::load(folder.path());
  ASSERT_EQ(tokenizer.notes().size(), 1u);
  EXPECT_THAT(tokenizer.notes()[0], HasSubstr("\"truncation\" is left aside"));
  EXPECT_GT(tokenizer.encode("a long text of many words").size(), 2u);
}

TEST(StreamDecoder, HoldsBackACharacterUntilItIsWhole) {
  const Tokenizer tokenizer = Tokenizer::bytes();
  StreamDecoder decoder(tokenizer);
  EXPECT_EQ(decoder.push('a'), "a");
  EXPECT_EQ(decoder.push(0xe5), "");
  EXPECT_EQ(decoder.push(0xba), "");
  EXPECT_EQ(decoder.push(0x8a), "\u5e8a");
  EXPECT_EQ(decoder.push(257), "");  // special
  EXPECT_EQ(decoder.push(0xf0), "");
  EXPECT_EQ(decoder.push('b'),
            "\ufffd"
            "b");
  EXPECT_EQ(decoder.push(0xe5), "");
  EXPECT_EQ(decoder.finish(), "\ufffd");
  EXPECT_EQ(decoder.finish(), "");
}

TEST(StreamDecoder, PiecesTogetherAreTheDecodedWholeForAnyBytes) {
  const Tokenizer tokenizer = Tokenizer::bytes();
  base::RandomStream random(11, 3);
  const std::int32_t interesting[] = {0x80, 0xbf, 0xc2, 0xe0, 0xa0, 0xed, 0x9f, 0xf0, 0x90, 0xf4, 0x8f, 'a', 0xff, 257};
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::int32_t> ids;
    for (std::uint64_t n = random.below(12) + 1; n > 0; --n)
      ids.push_back(interesting[random.below(std::size(interesting))]);
    StreamDecoder decoder(tokenizer, SpecialText::kKeep);
    std::string text;
    for (const std::int32_t id : ids) {
      text += decoder.push(id);
      ASSERT_EQ(base::find_invalid_utf8(text), std::string::npos);
    }
    ASSERT_EQ(text + decoder.finish(), tokenizer.decode(ids));
  }
}

}  // namespace
}  // namespace athanor::formats
