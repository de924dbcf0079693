#include "core/formats/bpe.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "core/base/random.h"
#include "core/base/unicode.h"
#include "core/formats/byte_alphabet.h"
#include "core/formats/tokenizer_json.h"
#include "core/formats/unicode_category.h"
#include "core/formats/whole_characters.h"
#include "tests/unit/core/formats/tokenizer_files.h"

namespace athanor::formats {
namespace {

using ::testing::ElementsAre;

struct Tables {
  BpeVocabulary vocabulary;
  MergeTable merges;
};

Tables read_tables(const std::string& path) {
  TokenizerFile file = parse_tokenizer_json(base::read_file(path), path);
  return {std::move(file.vocabulary), std::move(file.merges)};
}

// Byte-pair encoding as it is defined: the rule of lowest rank that applies, at its leftmost place, until there is none.
std::vector<std::int32_t> encode_by_definition(const Tables& tables, std::string_view piece) {
  std::vector<std::int32_t> symbols;
  for (const char& byte : piece) symbols.push_back(tables.vocabulary.find({&byte, 1}));
  while (true) {
    std::uint32_t best = MergeTable::kNoRule;
    std::size_t place = 0;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      const std::uint32_t rank = tables.merges.rank(symbols[i], symbols[i + 1]);
      if (rank < best) {
        best = rank;
        place = i;
      }
    }
    if (best == MergeTable::kNoRule) return symbols;
    symbols[place] = tables.merges.merged(best);
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
}

std::vector<std::int32_t> encode(const BpeModel& model, std::string_view piece) {
  BpeScratch scratch;
  std::vector<std::int32_t> out;
  EXPECT_EQ(model.encode(piece, scratch, out), -1);
  return out;
}

// Pieces as byte strings from a small alphabet, so that merges meet in every way.
std::string random_piece(base::RandomStream& random, const std::vector<std::string>& parts, std::size_t max_parts) {
  std::string piece;
  const std::size_t count = 1 + random.below(max_parts);
  for (std::size_t i = 0; i < count; ++i) piece += parts[random.below(parts.size())];
  return piece;
}

class BpeOfAFile : public ::testing::TestWithParam<const char*> {
 protected:
  const Tables tables = read_tables(testing::tokenizer_path(GetParam()));
  const BpeModel model{tables.vocabulary, tables.merges, false};
};

TEST_P(BpeOfAFile, MergesAsTheDefinitionSays) {
  std::vector<std::string> parts = {"a", "e", " ", "th", "ing", "==", "\n", "0"};
  for (char32_t c = 0x4e00; c < 0x4e60; ++c) parts.push_back(std::string());
  std::size_t next = 8;
  for (char32_t c = 0x4e00; c < 0x4e60; ++c) base::append_utf8(parts[next++], c);
  for (const char* text : {"\u3002", "\u00e9", "\u0430", "\u0e01", "\u3042", "\uac00", "\u7684", "\U0001f600"}) {
    parts.emplace_back(text);
  }
  base::RandomStream random(3, 1);
  for (int i = 0; i < 1500 / testing::kShare; ++i) {
    const std::string piece = random_piece(random, parts, i % 10 == 0 ? 90 : 12);
    ASSERT_EQ(encode(model, piece), encode_by_definition(tables, piece)) << fmt::format("{:?}", piece);
  }
}

// Each character between others, where a start from its token could go wrong.
TEST_P(BpeOfAFile, AStartFromWholeCharactersGivesTheSameAsFromBytes) {
  base::RandomStream random(3, 2);
  std::vector<char32_t> whole;
  for (char32_t c = 0x80; c < 0x10000; ++c) {
    if (model.whole_character(c) != BpeModel::kNoToken) whole.push_back(c);
  }
  if (std::string(GetParam()) == "v3") {
    EXPECT_GT(whole.size(), 3000u);
  }
  for (std::size_t i = 0; i < whole.size(); i += testing::kShare) {
    std::string piece;
    base::append_utf8(piece, whole[random.below(whole.size())]);
    base::append_utf8(piece, whole[i]);
    base::append_utf8(piece, random.below(2) == 0 ? whole[random.below(whole.size())]
                                                  : static_cast<char32_t>(0x4e00 + random.below(0x5000)));
    ASSERT_EQ(encode(model, piece), encode_by_definition(tables, piece)) << fmt::format("{:?}", piece);
  }
}

INSTANTIATE_TEST_SUITE_P(All, BpeOfAFile, ::testing::Values("v2", "v3", "llama3", "qwen2", "whole"));

// a=0 b=1 c=2 ab=3 bc=4 abc=5
Tables toy() {
  Tables tables;
  const char* tokens[] = {"a", "b", "c", "ab", "bc", "abc"};
  for (std::int32_t id = 0; id < 6; ++id) tables.vocabulary.add(id, tokens[id], BpeVocabulary::Spelling::kBytes);
  tables.merges.reserve(3);
  EXPECT_TRUE(tables.merges.add(1, 2, 4));
  EXPECT_TRUE(tables.merges.add(0, 1, 3));
  EXPECT_TRUE(tables.merges.add(0, 4, 5));
  return tables;
}

TEST(Bpe, TheLowestRankGoesFirstAndTiesGoLeft) {
  Tables tables = toy();
  const BpeModel model(std::move(tables.vocabulary), std::move(tables.merges), false);
  EXPECT_THAT(encode(model, "abc"), ElementsAre(5));  // bc before ab
  EXPECT_THAT(encode(model, "abab"), ElementsAre(3, 3));
  EXPECT_THAT(encode(model, "bcc"), ElementsAre(4, 2));
}

TEST(Bpe, IgnoreMergesTakesAWholePieceFromTheVocabulary) {
  Tables tables = toy();
  tables.vocabulary.add(6, "ca", BpeVocabulary::Spelling::kBytes);  // no rule makes it
  const BpeModel merging(tables.vocabulary, tables.merges, false);
  const BpeModel ignoring(std::move(tables.vocabulary), std::move(tables.merges), true);
  EXPECT_THAT(encode(merging, "ca"), ElementsAre(2, 0));
  EXPECT_THAT(encode(ignoring, "ca"), ElementsAre(6));
  EXPECT_THAT(encode(ignoring, "cab"), ElementsAre(2, 3));
}

TEST(Bpe, AByteWithoutATokenIsNamedAndNothingIsAppended) {
  Tables tables = toy();
  const BpeModel model(std::move(tables.vocabulary), std::move(tables.merges), false);
  BpeScratch scratch;
  std::vector<std::int32_t> out;
  EXPECT_EQ(model.encode("abz", scratch, out), 'z');
  EXPECT_EQ(model.encode(std::string(200, 'a') + "z", scratch, out), 'z');
  EXPECT_TRUE(out.empty());
}

// Quadratic work on a megabyte without a single border would take minutes.
TEST(Bpe, APieceOfAMegabyteIsDoneInTime) {
  const std::string path = testing::parity_file("small/whole.json");
  Tables tables = read_tables(path);
  const BpeModel model(std::move(tables.vocabulary), std::move(tables.merges), false);
  std::string piece;
  while (piece.size() < (1 << 20)) piece += "aab abba \xe5\xba\x8a" + std::to_string(piece.size());
  const auto start = std::chrono::steady_clock::now();
  const std::vector<std::int32_t> ids = encode(model, piece);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  std::string back;
  for (const std::int32_t id : ids) back += model.vocabulary().bytes(id);
  EXPECT_EQ(back, piece);
}

TEST(ByteAlphabet, EveryByteHasOneVisibleCharacter) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    EXPECT_EQ(alphabet_byte(alphabet_character(static_cast<std::uint8_t>(byte))), byte);
    all += static_cast<char>(byte);
  }
  std::string back;
  EXPECT_TRUE(append_token_bytes(alphabet_text(all), back));
  EXPECT_EQ(back, all);
  EXPECT_EQ(alphabet_text(" \n!"), "\xc4\xa0\xc4\x8a!");
}

TEST(ByteAlphabet, ATokenWithACharacterOutsideStandsForItsOwnText) {
  for (const char* text : {"<s p>", "\uff5c", "a\u0144", "\xe4\xb8\x80"}) {
    std::string out = "x";
    EXPECT_FALSE(append_token_bytes(text, out));
    EXPECT_EQ(out, std::string("x") + text);
  }
}

}  // namespace
}  // namespace athanor::formats
