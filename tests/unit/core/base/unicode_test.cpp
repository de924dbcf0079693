#include "core/base/unicode.h"

#include <gtest/gtest.h>

namespace athanor::base {
namespace {

TEST(Unicode, EveryCodePointSurvivesEncodingAndDecoding) {
  for (char32_t code_point = 0; code_point <= 0x10ffff; ++code_point) {
    if (code_point >= 0xd800 && code_point <= 0xdfff) continue;
    std::string text;
    append_utf8(text, code_point);
    std::size_t offset = 0;
    ASSERT_EQ(decode_utf8(text, offset), code_point);
    ASSERT_EQ(offset, text.size());
    ASSERT_EQ(find_invalid_utf8(text), std::string::npos);
  }
}

TEST(Unicode, SurrogatesAndValuesBeyondTheRangeBecomeTheReplacementCharacter) {
  for (char32_t code_point : {U'\xd800', U'\xdfff', static_cast<char32_t>(0x110000)}) {
    std::string text;
    append_utf8(text, code_point);
    EXPECT_EQ(text, "\xef\xbf\xbd");
  }
}

TEST(Unicode, AMalformedByteAdvancesByOne) {
  const std::string text = "\xe4\xb8(";  // the third byte of a three-byte sequence is missing
  std::size_t offset = 0;
  EXPECT_EQ(decode_utf8(text, offset), U'\xfffd');
  EXPECT_EQ(offset, 1u);
  EXPECT_EQ(decode_utf8(text, offset), U'\xfffd');
  EXPECT_EQ(decode_utf8(text, offset), U'(');
  EXPECT_EQ(offset, text.size());
}

TEST(Unicode, FindsTheFirstMalformedSequence) {
  EXPECT_EQ(find_invalid_utf8(""), std::string::npos);
  EXPECT_EQ(find_invalid_utf8("plain text that is longer than eight bytes"), std::string::npos);
  EXPECT_EQ(find_invalid_utf8("0123456789\x80"), 10u);
  EXPECT_EQ(find_invalid_utf8("ab\xc0\x80"), 2u);                // overlong
  EXPECT_EQ(find_invalid_utf8("ab\xe0\x9f\xbf"), 2u);            // overlong
  EXPECT_EQ(find_invalid_utf8("\xe5\xba\x8a\xed\xa0\x80"), 3u);  // a surrogate
  EXPECT_EQ(find_invalid_utf8("\xf4\x90\x80\x80"), 0u);          // beyond U+10FFFF
  EXPECT_EQ(find_invalid_utf8("\xf0\x9f\x98"), 0u);              // cut off
  EXPECT_EQ(find_invalid_utf8("\xf0\x9f\x98\x80\xe5\xba\x8a\xc3\xa9"), std::string::npos);
}

// The expected texts are what Python 3.11 gives for bytes.decode("utf-8", errors="replace").
TEST(Unicode, ReplacesAsPythonDoes) {
  const std::string r = "\xef\xbf\xbd";
  EXPECT_EQ(replace_invalid_utf8("a\xff"
                                 "b"),
            "a" + r + "b");
  EXPECT_EQ(replace_invalid_utf8("\xe4\xb8"
                                 "x"),
            r + "x");
  EXPECT_EQ(replace_invalid_utf8("\xe4\xb8"), r);
  EXPECT_EQ(replace_invalid_utf8("\xf0\x9f\x98"
                                 "\xf0\x9f\x98\x80"),
            r + "\xf0\x9f\x98\x80");
  EXPECT_EQ(replace_invalid_utf8("\xe0\x80\x80"), r + r + r);
  EXPECT_EQ(replace_invalid_utf8("\xed\xa0\x80z"), r + r + r + "z");
  EXPECT_EQ(replace_invalid_utf8("\xf0\x80\x80\x41"), r + r + r + "A");
  EXPECT_EQ(replace_invalid_utf8("\xc3\x28\xf4\x90"), r + "(" + r + r);
  EXPECT_EQ(replace_invalid_utf8("\xe5\xba\x8a"), "\xe5\xba\x8a");
}

TEST(Unicode, CountsCodePoints) {
  EXPECT_EQ(count_code_points(""), 0u);
  EXPECT_EQ(count_code_points("abc"), 3u);
  EXPECT_EQ(count_code_points("\xe5\xba\x8a\xe5\x89\x8d!"), 3u);
}

TEST(Unicode, WidthIsThatOfATerminal) {
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("\xe5\xba\x8a\xe5\x89\x8d"), 4);  // two CJK characters
  EXPECT_EQ(display_width("e\xcc\x81"), 1);                 // a combining accent
  EXPECT_EQ(display_width("\xef\xbc\xa1"), 2);              // a fullwidth letter
  EXPECT_EQ(display_width("\xf0\x9f\x98\x80"), 2);          // an emoji
  EXPECT_EQ(display_width("a\tb\n"), 2);                    // control characters take no column
  EXPECT_EQ(display_width("\xc3\xa9\xd0\xb6"), 2);
}

}  // namespace
}  // namespace athanor::base
