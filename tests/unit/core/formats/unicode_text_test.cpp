// Unicode properties, normalization and the translation of regular expressions.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/formats/regex.h"
#include "core/formats/unicode_category.h"
#include "core/formats/unicode_normalization.h"

namespace athanor::formats {
namespace {

TEST(UnicodeCategory, KnowsTheGroups) {
  EXPECT_EQ(category_group(U'a'), CategoryGroup::kLetter);
  EXPECT_EQ(category_group(U'\u4e00'), CategoryGroup::kLetter);
  EXPECT_EQ(category_group(U'\u0301'), CategoryGroup::kMark);
  EXPECT_EQ(category_group(U'7'), CategoryGroup::kDecimalNumber);
  EXPECT_EQ(category_group(U'\u2167'), CategoryGroup::kLetterNumber);
  EXPECT_EQ(category_group(U'\u00bd'), CategoryGroup::kOtherNumber);
  EXPECT_EQ(category_group(U'_'), CategoryGroup::kConnectorPunctuation);
  EXPECT_EQ(category_group(U'\u3002'), CategoryGroup::kPunctuation);
  EXPECT_EQ(category_group(U'$'), CategoryGroup::kSymbol);
  EXPECT_EQ(category_group(U'\u3000'), CategoryGroup::kSeparator);
  EXPECT_EQ(category_group(U'\n'), CategoryGroup::kOther);
  EXPECT_EQ(category_group(U'\U0010ffff'), CategoryGroup::kOther);
  EXPECT_EQ(category_group(U'\U00010d40'), CategoryGroup::kDecimalNumber);  // Unicode 16
}

TEST(UnicodeCategory, RangesAreThePropertyAndItsComplementTheRest) {
  for (const char* name : {"L", "M", "N", "Nd", "P", "S", "Z", "C"}) {
    const auto ranges = *property_ranges(name);
    const auto rest = complement(ranges);
    std::size_t count = 0;
    for (const auto& range : ranges) count += range.last - range.first + 1;
    for (const auto& range : rest) count += range.last - range.first + 1;
    // The surrogates are in C and in no complement.
    EXPECT_EQ(count, std::string(name) == "C" ? 0x110000u : 0x110000u - 0x800u) << name;
  }
  EXPECT_FALSE(property_ranges("Han").has_value());
}

TEST(UnicodeCategory, NumbersForDigitsAreThoseOfANewerUnicode) {
  EXPECT_TRUE(is_numeric(U'\U00011de0'));
  EXPECT_NE(category_group(U'\U00011de0'), CategoryGroup::kDecimalNumber);
  EXPECT_TRUE(is_numeric(U'\u2460'));
  EXPECT_FALSE(is_numeric(U'\u4e00'));  // "one", a letter
}

TEST(UnicodeNormalization, ComposesAsFormCDoes) {
  EXPECT_EQ(normalize_nfc("plain"), "plain");
  EXPECT_EQ(normalize_nfc("e\u0301"), "\u00e9");
  EXPECT_EQ(normalize_nfc("\u212b"), "\u00c5");                // a singleton
  EXPECT_EQ(normalize_nfc("q\u0307\u0323"), "q\u0323\u0307");  // marks in order
  EXPECT_EQ(normalize_nfc("\u1e0b\u0323"), "\u1e0d\u0307");    // recomposed with the other mark
  EXPECT_EQ(normalize_nfc("\u1100\u1161\u11a8"), "\uac01");    // Hangul
  EXPECT_EQ(normalize_nfc("\uac00\u11a8"), "\uac01");
  EXPECT_EQ(normalize_nfc("\u0958"), "\u0915\u093c");  // excluded from composition
  EXPECT_EQ(normalize_nfc("\u304b\u3099"), "\u304c");
  EXPECT_EQ(normalize_nfc("a\u0315\u0300\u05ae\u0300b"),
            "\u00e0\u05ae\u0300\u0315"
            "b");
}

TEST(UnicodeNormalization, WhatIsSurelyNormalIsNotTouched) {
  for (const char* text :
       {"", "ascii", "caf\u00e9", "\u5e8a\u524d\u660e\u6708\u5149\uff0c", "\u3042\u30ab\u3002", "\u201cx\u201d"}) {
    EXPECT_TRUE(is_surely_nfc(text)) << text;
    EXPECT_EQ(normalize_nfc(text), text);
  }
  for (const char* text : {"e\u0301", "\u304b\u3099", "\u2000", "\u1100"}) EXPECT_FALSE(is_surely_nfc(text)) << text;
}

std::vector<std::string> matches(const std::string& pattern, std::string_view text) {
  const Regex regex(pattern, "test");
  RegexMatcher matcher;
  std::vector<std::string> out;
  for (std::size_t offset = 0; offset < text.size();) {
    const auto match = matcher.find(regex, text, offset);
    if (!match || match->end == match->begin) break;
    out.emplace_back(text.substr(match->begin, match->end - match->begin));
    offset = match->end;
  }
  return out;
}

using Texts = std::vector<std::string>;

TEST(Regex, MeansWhatOnigurumaMeans) {
  EXPECT_EQ(matches(R"(\s+$)", "a \nb  "), (Texts{" ", "  "}));                    // the end of each line
  EXPECT_EQ(matches(R"(\s)", "\u180e\u3000\u0085"), (Texts{"\u3000", "\u0085"}));  // not U+180E
  EXPECT_EQ(matches(R"(\p{Nd}+)", "1\U00010d40x"), (Texts{"1\U00010d40"}));        // of Unicode 16
  EXPECT_EQ(matches(R"([^\r\n\p{L}\p{N}]?\p{L}+)", "a b\nc"), (Texts{"a", " b", "c"}));
  EXPECT_EQ(matches(R"((?i:'s))", "'S'\u017f's"), (Texts{"'S", "'\u017f", "'s"}));
  EXPECT_EQ(matches("[\u4e00-\u9fa5]+", "a\u4e00\u9fa5b"), (Texts{"\u4e00\u9fa5"}));
  EXPECT_EQ(matches(R"(\u4e00|\x41|\x{42})",
                    "A\u4e00"
                    "B"),
            (Texts{"A", "\u4e00", "B"}));
  EXPECT_EQ(matches(R"([\S\n]+)", "ab\n c"), (Texts{"ab\n", "c"}));
  EXPECT_EQ(matches(R"(\P{L}+)", "a12b"), (Texts{"12"}));
  EXPECT_EQ(matches("a{2}|{", "aaa{"), (Texts{"aa", "{"}));
  EXPECT_EQ(matches("a]", "a]"), (Texts{"a]"}));
}

TEST(Regex, WhatIsNotTheSameInBothEnginesIsRefusedByName) {
  const std::pair<const char*, const char*> cases[] = {
      {R"(\h)", "\\h"},
      {R"(\w+)", "\\w"},
      {R"(\bx)", "\\b"},
      {"a{1,3}+", "{m,n}+"},
      {"a{,3}", "{,n}"},
      {"[a[b]]", "a class"},
      {"[a&&b]", "&&"},
      {R"(\p{Greek})", "\\p{Greek}"},
      {R"(\pL)", "braces"},
      {"(?<n>a)", "(?<n"},
      {R"((a)\1)", "\\1"},
      {"a\\", "backslash"},
      {"[a", "closing bracket"},
      {"[]", "empty"},
      {R"(\x{110000})", "10FFFF"},
      {"[z-a]", "range"},
      {"(a", "malformed"},
      {R"(\u12)", "too few"},
  };
  for (const auto& [pattern, expected] : cases) {
    try {
      const Regex regex(pattern, "t.json:1:2");
      ADD_FAILURE() << pattern << " was taken";
    } catch (const base::UserError& error) {
      EXPECT_NE(error.problems().front().what.find(expected), std::string::npos) << error.what();
      EXPECT_EQ(error.problems().front().where, "t.json:1:2");
      EXPECT_FALSE(error.problems().front().remedy.empty());
    }
  }
}

TEST(Regex, ASetIsRecognised) {
  EXPECT_EQ(regex_as_set("[a-cb-d]"), (std::vector<CodePointRange>{{'a', 'd'}}));
  EXPECT_EQ(regex_as_set(R"(\p{L})"), property_ranges("L"));
  EXPECT_EQ(regex_as_set("[^a]")->front(), (CodePointRange{0, 'a' - 1}));
  EXPECT_FALSE(regex_as_set("[a]b").has_value());
  EXPECT_FALSE(regex_as_set("ab").has_value());
  EXPECT_FALSE(regex_as_set("[a").has_value());
}

}  // namespace
}  // namespace athanor::formats
