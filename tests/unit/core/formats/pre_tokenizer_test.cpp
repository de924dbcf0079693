#include "core/formats/pre_tokenizer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/random.h"
#include "core/base/unicode.h"
#include "tests/unit/core/formats/tokenizer_files.h"

namespace athanor::formats {
namespace {

// Random text in which every class of characters that a pre-tokenizer tells apart is frequent, and their borders more so.
class TextGenerator {
 public:
  explicit TextGenerator(std::uint64_t seed) : random_(7, seed) {}

  std::string next() {
    std::string text;
    const std::uint64_t length = 1 + random_.below(60);
    for (std::uint64_t i = 0; i < length; ++i) base::append_utf8(text, character());
    return text;
  }

 private:
  char32_t character() {
    static const std::u32string kSpecial =
        U" \n\r\t'"
        U"\u3000\u2003\u00a0\u0085\u180e\u200b\u2028\u2018\u3001\u3099\u0301\u00e9\u1ec7\u4e00\u9fa5\u9fa6\uac00"
        U"\u2460\u2167\u00bd\uff11\uff0c\uff21\u017f\u212a\u0e01\u0e31\u1d00\U0001d7ce\U00010d40\U00011de0\U0001f600"
        U"\ufeff";
    switch (random_.below(8)) {
      case 0:
      case 1:
        return kSpecial[random_.below(kSpecial.size())];
      case 2:
        return U" \n"[random_.below(2)];
      case 3:
        return static_cast<char32_t>('a' + random_.below(26));
      case 4:
        return static_cast<char32_t>('0' + random_.below(10));
      case 5:
        return static_cast<char32_t>(0x21 + random_.below(0x5e));
      case 6:
        return static_cast<char32_t>(0x4e00 + random_.below(0x100));
      default:
        break;
    }
    while (true) {
      const char32_t any = static_cast<char32_t>(random_.below(random_.below(4) == 0 ? 0x110000 : 0x3100));
      if (any < 0xd800 || any > 0xdfff) return any;
    }
  }

  base::RandomStream random_;
};

struct Engines {
  PreTokenizer fast;
  PreTokenizer regex;

  explicit Engines(const std::string& name)
      : fast(testing::read_pre_tokenizer(name, PreTokenizerEngine::kFastest)),
        regex(testing::read_pre_tokenizer(name, PreTokenizerEngine::kRegex)) {}
};

std::vector<std::string> split(const PreTokenizer& pre_tokenizer, std::string_view text) {
  RegexMatcher matcher;
  PieceList list;
  pre_tokenizer.split(text, matcher, list);
  return {list.pieces.begin(), list.pieces.end()};
}

class Scanners : public ::testing::TestWithParam<const char*> {};

TEST_P(Scanners, CutRandomTextWhereTheRegularExpressionsDo) {
  const Engines engines(GetParam());
  ASSERT_NE(engines.fast.scanner(), nullptr);
  TextGenerator generator(1);
  for (int i = 0; i < 2500 / testing::kShare; ++i) {
    const std::string text = generator.next();
    ASSERT_EQ(split(engines.fast, text), split(engines.regex, text))
        << "text " << i << ": " << fmt::format("{:?}", text);
  }
}

// Every code point between characters of each kind, which finds a class painted wrongly.
TEST_P(Scanners, ClassifyEveryCodePointAsTheRegularExpressionsDo) {
  const Engines engines(GetParam());
  for (char32_t first = 0; first <= kMaxCodePoint; first += 0x400 * testing::kShare) {
    if (first >= 0x3400 && first < 0xa400 && first % 0x2800 != 0) continue;  // the middle of CJK is all alike
    if (first >= 0x30000 && first < 0xe0000) continue;                       // nothing is assigned there
    std::string text;
    for (char32_t c = first; c < first + 0x400; ++c) {
      if (c >= 0xd800 && c <= 0xdfff) continue;
      for (const char* context : {"a", " ", ",", "\n"}) {
        if (c % 4 == static_cast<char32_t>(context[0]) % 4 || c < 0x3100) {
          text += context;
          base::append_utf8(text, c);
        }
      }
    }
    ASSERT_EQ(split(engines.fast, text), split(engines.regex, text)) << "from " << static_cast<unsigned>(first);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Scanners,
                         ::testing::Values("v2", "v3", "deepseek_coder", "llama3", "qwen2", "gpt2", "whole"));

TEST(Scanners, PiecesLieEndToEndWhateverTheBatchSize) {
  const Engines engines("deepseek_coder");
  const PieceScanner& scanner = *engines.fast.scanner();
  TextGenerator generator(2);
  for (int i = 0; i < 200; ++i) {
    const std::string text = generator.next();
    std::vector<std::size_t> all(text.size());
    ScanPosition position;
    all.resize(scanner.scan(text, position, all));
    std::vector<std::size_t> one_by_one;
    ScanPosition slow;
    std::size_t end = 0;
    while (scanner.scan(text, slow, {&end, 1}) == 1) one_by_one.push_back(end);
    EXPECT_EQ(one_by_one, all);
    EXPECT_EQ(all.back(), text.size());
  }
}

std::vector<std::string> problems_of(const std::string& section) {
  base::Problems problems;
  const PreTokenizer pre_tokenizer(base::parse_json(section, "t.json"), "t.json", problems);
  std::vector<std::string> out;
  for (const base::Problem& problem : problems.list()) {
    out.push_back(problem.what);
    EXPECT_TRUE(problem.where.starts_with("t.json:1:")) << problem.where;
    EXPECT_FALSE(problem.remedy.empty());
  }
  return out;
}

TEST(PreTokenizer, WhatIsNotSupportedIsRefusedByName) {
  const std::string byte_level = R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":false})";
  const auto sequence = [&](const std::string& stage) {
    return R"({"type":"Sequence","pretokenizers":[)" + stage + "," + byte_level + "]}";
  };
  EXPECT_TRUE(problems_of(byte_level).empty());
  const std::pair<std::string, std::string> cases[] = {
      {"null", "there is no pre-tokenizer"},
      {R"({"type":"Metaspace"})", "\"Metaspace\""},
      {sequence(R"({"type":"Whitespace"})"), "\"Whitespace\""},
      {R"({"type":"Digits","individual_digits":true})", "does not end in ByteLevel"},
      {sequence(byte_level), "after ByteLevel"},
      {R"({"type":"Sequence"})", "must be a list"},
      {sequence(R"({"type":"Split","pattern":{"Regex":"a"},"behavior":"Kept"})"), "\"Kept\""},
      {sequence(R"({"type":"Split","behavior":"Isolated"})"), "needs a \"pattern\""},
      {sequence(R"({"type":"Split","pattern":{"Regex":"(a"},"behavior":"Isolated"})"), "malformed"},
      {sequence(R"({"type":"Split","pattern":{"Regex":"\\p{Han}"},"behavior":"Isolated"})"), "\\p{Han}"},
  };
  for (const auto& [section, expected] : cases) {
    const auto problems = problems_of(section);
    ASSERT_FALSE(problems.empty()) << section;
    EXPECT_NE(problems[0].find(expected), std::string::npos) << problems[0];
  }
}

}  // namespace
}  // namespace athanor::formats
