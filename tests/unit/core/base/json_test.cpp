#include "core/base/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/temporary_folder.h"

namespace athanor::base {
namespace {

JsonValue parse(std::string_view text) { return parse_json(text, "a.json"); }

// The one problem that parsing `text` gives.
Problem problem_of(std::string_view text) {
  try {
    parse(text);
  } catch (const UserError& error) {
    EXPECT_EQ(error.problems().size(), 1u);
    return error.problems().at(0);
  }
  ADD_FAILURE() << "accepted: " << text;
  return {};
}

TEST(Json, ReadsEveryKindOfValue) {
  const JsonValue value =
      parse(R"({"a": null, "b": true, "c": false, "d": -12, "e": 2.5e-3, "f": "x", "g": [1, []], "h": {}})");
  EXPECT_TRUE(value.find("a")->is_null());
  EXPECT_TRUE(value.find("b")->as_bool());
  EXPECT_FALSE(value.find("c")->as_bool());
  EXPECT_EQ(value.find("d")->as_integer(), -12);
  EXPECT_EQ(value.find("d")->as_double(), -12.0);
  EXPECT_EQ(value.find("e")->as_double(), 2.5e-3);
  EXPECT_FALSE(value.find("e")->is_integer());
  EXPECT_EQ(value.find("f")->as_string(), "x");
  EXPECT_EQ(value.find("g")->items().size(), 2u);
  EXPECT_TRUE(value.find("h")->members().empty());
  EXPECT_EQ(value.find("z"), nullptr);
}

TEST(Json, NumbersKeepSpellingAndRange) {
  EXPECT_EQ(parse("9223372036854775807").as_integer(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse("-9223372036854775808").as_integer(), std::numeric_limits<std::int64_t>::min());
  const JsonValue large = parse("9223372036854775808");
  EXPECT_FALSE(large.is_integer());
  EXPECT_EQ(large.as_double(), 9223372036854775808.0);
  EXPECT_EQ(large.dump(), "9223372036854775808");
  EXPECT_FALSE(parse("1e9").is_integer());
  EXPECT_EQ(parse("1e9").as_double(), 1e9);
  EXPECT_EQ(parse("1e9").text(), "1e9");
  EXPECT_TRUE(std::signbit(parse("-0").as_double()));
  EXPECT_EQ(parse("1e999").as_double(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse("-1e999").as_double(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse("1e-999").as_double(), 0.0);
  EXPECT_EQ(parse("5e-324").as_double(), 5e-324);
}

TEST(Json, PythonsNonFiniteNumbersAreRead) {
  EXPECT_TRUE(std::isnan(parse("NaN").as_double()));
  EXPECT_EQ(parse("Infinity").as_double(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse("[-Infinity]").items()[0].as_double(), -std::numeric_limits<double>::infinity());
}

TEST(Json, EscapesAndSurrogatePairsBecomeUtf8) {
  EXPECT_EQ(parse(R"("\"\\\/\b\f\n\r\t")").as_string(), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(parse(R"("\u00e9\u4e2d\ud83d\ude00")").as_string(), "\u00e9\u4e2d\U0001f600");
  EXPECT_EQ(parse("\"\u4e2d plain \u00e9\"").as_string(), "\u4e2d plain \u00e9");
  EXPECT_EQ(parse(R"("a\u0000b")").as_string(), std::string("a\0b", 3));
}

TEST(Json, PositionsCountCodePointsAndLines) {
  const JsonValue value = parse("{\n  \"\u4e2d\": 1, \"b\": [2,\r\n 3]\n}");
  EXPECT_EQ(value.position(), (Position{1, 1}));
  EXPECT_EQ(value.members()[0].key_position, (Position{2, 3}));
  EXPECT_EQ(value.members()[0].value.position(), (Position{2, 8}));
  EXPECT_EQ(value.members()[1].key_position, (Position{2, 11}));
  EXPECT_EQ(value.members()[1].value.items()[0].position(), (Position{2, 17}));
  EXPECT_EQ(value.members()[1].value.items()[1].position(), (Position{3, 2}));
}

TEST(Json, ByteOrderMarkIsSkippedAndTakesNoColumn) {
  const JsonValue value = parse("\xef\xbb\xbf{\"a\": 1}");
  EXPECT_EQ(value.members()[0].key_position, (Position{1, 2}));
}

TEST(Json, DuplicateKeysAreKeptAndTheLastIsFound) {
  const JsonValue value = parse(R"({"a": 1, "b": 2, "a": 3})");
  EXPECT_EQ(value.members().size(), 3u);
  EXPECT_EQ(value.find("a")->as_integer(), 3);
}

struct Malformed {
  const char* text;
  const char* where;
  const char* what;    // a part of it
  const char* remedy;  // a part of it
};

TEST(Json, MalformedTextIsRefusedWithPlaceAndRemedy) {
  const Malformed cases[] = {
      {"", "a.json:1:1", "empty", "{}"},
      {"  \n ", "a.json:2:2", "empty", "{}"},
      {"{\"a\": 1,}", "a.json:1:9", "comma before the closing brace", "remove the comma"},
      {"[1, 2,\n]", "a.json:2:1", "comma before the closing bracket", "remove the comma"},
      {"{\"a\": 1 \"b\": 2}", "a.json:1:9", "a comma or } is expected", "comma between"},
      {"{a: 1}", "a.json:1:2", "key is expected", "\"key\": value"},
      {"{\"a\" 1}", "a.json:1:6", "not followed by a colon", "\"key\": value"},
      {"{'a': 1}", "a.json:1:2", "key is expected", "\"key\""},
      {"{\"a\": 'x'}", "a.json:1:7", "single quotes", "double quotes"},
      {"{\"a\": True}", "a.json:1:7", "True is Python", "write true"},
      {"{\"a\": None}", "a.json:1:7", "None is Python", "write null"},
      {"{\"a\": yes}", "a.json:1:7", "yes is no JSON value", "\"yes\""},
      {"{\"a\": 1} x", "a.json:1:10", "after the end", "closed too early"},
      {"{\"a\": [1, 2}", "a.json:1:12", "a comma or ] is expected", "close"},
      {"{\"a\": {\n\"b\": 1", "a.json:2:7", "opened at line 1, column 7", "close it with }"},
      {"{\"a\": \"x", "a.json:1:7", "no closing quote", "cut short"},
      {"{\"a\": \"x\ny\"}", "a.json:1:7", "no closing quote on its line", "\\n"},
      {"[\"a\tb\"]", "a.json:1:4", "control character 0x09", "\\t"},
      {"[\"\\x\"]", "a.json:1:3", "backslash", "\\\\"},
      {"[\"\\u12g4\"]", "a.json:1:3", "four hexadecimal digits", "four"},
      {"[\"\\ud800\"]", "a.json:1:3", "surrogate", "both halves"},
      {"[\"\\ud800\\u0041\"]", "a.json:1:3", "surrogate", "both halves"},
      {"[\"\\udc00\"]", "a.json:1:3", "surrogate", "both halves"},
      {"[\"ab\xff\"]", "a.json:1:5", "0xff is not valid UTF-8", "UTF-8"},
      {"[\"\xed\xa0\x80\"]", "a.json:1:3", "not valid UTF-8", "UTF-8"},
      {"[01]", "a.json:1:2", "superfluous zero", "leading zero"},
      {"[1.]", "a.json:1:2", "number", "digits"},
      {"[.5]", "a.json:1:2", "value is expected", "number"},
      {"[+5]", "a.json:1:2", "value is expected", "number"},
      {"[-]", "a.json:1:2", "number", "digits"},
      {"[1e]", "a.json:1:2", "number", "digits"},
      {"[1x]", "a.json:1:2", "number", "digits"},
      {"[1, // c\n2]", "a.json:1:5", "comment", "remove the comment"},
      {"[1 # c\n]", "a.json:1:4", "comment", "remove the comment"},
      {"[1,,2]", "a.json:1:4", "value is expected", "number"},
      {"[1", "a.json:1:3", "opened at line 1, column 1", "close it with ]"},
      {"{\"a\":", "a.json:1:6", "text ends where a value", "give the value"},
  };
  for (const Malformed& malformed : cases) {
    const Problem problem = problem_of(malformed.text);
    EXPECT_EQ(problem.where, malformed.where) << malformed.text;
    EXPECT_NE(problem.what.find(malformed.what), std::string::npos) << malformed.text << " gives " << problem.what;
    EXPECT_NE(problem.remedy.find(malformed.remedy), std::string::npos)
        << malformed.text << " gives " << problem.remedy;
  }
}

TEST(Json, NestingBeyondTheLimitIsRefusedInsteadOfExhaustingTheStack) {
  EXPECT_NO_THROW(parse(std::string(400, '[') + std::string(400, ']')));
  EXPECT_THROW(parse(std::string(100000, '[')), UserError);
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  EXPECT_THROW(parse(objects), UserError);
}

TEST(Json, EveryPrefixOfADocumentIsRefusedWithoutACrash) {
  const std::string text = "{\"a\": [1, -2.5e+3, \"x\\n\\u00e9\\ud83d\\ude00\", true, null], \"b\": {\"c\": NaN}}";
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_THROW(parse(std::string_view(text).substr(0, size)), UserError) << size;
  }
}

TEST(Json, WritesAsPythonDoes) {
  JsonValue value = JsonValue::object();
  value.set("loss", 2.0);
  value.set("tiny", 5e-05);
  value.set("large", 1e16);
  value.set("plain", 123456789.5);
  value.set("step", 7);
  value.set("nan", std::numeric_limits<double>::quiet_NaN());
  value.set("text", "a\"\\\n\x01\u4e2d");
  value.set("list", JsonValue::array({JsonValue(1), JsonValue(nullptr), JsonValue(true)}));
  value.set("none", JsonValue::array());
  EXPECT_EQ(value.dump(),
            "{\"loss\": 2.0, \"tiny\": 5e-05, \"large\": 1e+16, \"plain\": 123456789.5, \"step\": 7, \"nan\": NaN, "
            "\"text\": \"a\\\"\\\\\\n\\u0001\u4e2d\", \"list\": [1, null, true], \"none\": []}");
  JsonValue nested = JsonValue::object();
  nested.set("a", JsonValue::array({JsonValue(1), JsonValue::object()}));
  EXPECT_EQ(nested.dump(2), "{\n  \"a\": [\n    1,\n    {}\n  ]\n}");
}

TEST(Json, DoublesReadBackToTheSameBits) {
  for (const double value : {0.1, 1.0 / 3.0, 5e-324, 1.7976931348623157e308, -0.0, 1e22, 123456.789e-7}) {
    std::string text;
    append_json_double(text, value);
    const double back = parse(text).as_double();
    EXPECT_EQ(back, value) << text;
    EXPECT_EQ(std::signbit(back), std::signbit(value)) << text;
  }
}

TEST(Json, EditingReplacesAppendsAndErases) {
  JsonValue value = parse(R"({"a": 1, "b": 2})");
  value.set("a", "x");
  value.set("c", 3);
  EXPECT_TRUE(value.erase("b"));
  EXPECT_FALSE(value.erase("b"));
  EXPECT_EQ(value.dump(), R"({"a": "x", "c": 3})");
  JsonValue list = JsonValue::array();
  list.push_back(JsonValue(1));
  EXPECT_EQ(list.dump(), "[1]");
}

TEST(Json, FileIsReadAndAMissingOneIsNamed) {
  testing::TemporaryFolder folder;
  write_whole(folder.file("x.json"), "{\"a\": 1}");
  EXPECT_EQ(parse_json_file(folder.file("x.json")).find("a")->as_integer(), 1);
  try {
    parse_json_file(folder.file("y.json"));
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.problems().at(0).where, folder.file("y.json"));
  }
}

// A vocabulary of this size takes milliseconds; with positions counted anew for every value it would take minutes.
TEST(Json, OneLineOfAHundredThousandMembersIsReadInLinearTime) {
  std::string text = "{";
  for (int i = 0; i < 100000; ++i)
    text += (i > 0 ? ",\"\u4e2d" : "\"\u4e2d") + std::to_string(i) + "\":" + std::to_string(i);
  text += "}";
  const JsonValue value = parse(text);
  EXPECT_EQ(value.members().size(), 100000u);
  EXPECT_EQ(value.members().back().value.as_integer(), 99999);
  EXPECT_EQ(value.members().back().value.position().line, 1);
}

}  // namespace
}  // namespace athanor::base
