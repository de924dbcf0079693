// What the Python hjson package 3.1 makes of each text (expected values taken from it), and positions and messages of ours.
#include "core/base/json.h"

#include <gtest/gtest.h>

namespace athanor::base {
namespace {

std::string read(std::string_view text) { return parse_json(text, "c.hjson", JsonDialect::kHjson).dump(); }

Problem problem_of(std::string_view text) {
  try {
    parse_json(text, "c.hjson", JsonDialect::kHjson);
  } catch (const UserError& error) {
    return error.problems().at(0);
  }
  ADD_FAILURE() << "accepted: " << text;
  return {};
}

struct Accepted {
  const char* text;
  const char* json;
};

TEST(Hjson, ReadsWhatThePackageReads) {
  const Accepted cases[] = {
      {"", "{}"},
      {"# nothing\n", "{}"},
      {"{}", "{}"},
      {"[]", "[]"},
      {"{\"a\": 1}", R"({"a": 1})"},
      {"\xef\xbb\xbf{\"a\": 1}", R"({"a": 1})"},
      {"{a: 1, b: 2,}", R"({"a": 1, "b": 2})"},
      {"{\n a: 1\n b: 2\n}", R"({"a": 1, "b": 2})"},
      {"a: 1\nb: two words\n", R"({"a": 1, "b": "two words"})"},
      {"\"a\": {b: 1}, \"c\": 2", R"({"a": {"b": 1}, "c": 2})"},
      {"{\"a\": {\"b\": 1} \"c\": 2}", R"({"a": {"b": 1}, "c": 2})"},
      {"{\"a\": \"x\" \"b\": \"y\"}", R"({"a": "x", "b": "y"})"},
      {"{a: 1 # c\n}", R"({"a": 1})"},
      {"{a: 1 // c\n}", R"({"a": 1})"},
      {"{a: 1 /* c */}", R"({"a": 1})"},
      {"{/* x\n y */ a: 1}", R"({"a": 1})"},
      {"{a: text # c\n}", R"({"a": "text # c"})"},
      {"{a: text // c\n}", R"({"a": "text // c"})"},
      {"{a: True,\n}", R"({"a": "True,"})"},
      {"{a: true,\n}", R"({"a": true})"},
      {"{a: null}", R"({"a": null})"},
      {"{a: nullx\n}", R"({"a": "nullx"})"},
      {"{a: +8\n}", R"({"a": "+8"})"},
      {"{a: 08\n}", R"({"a": "08"})"},
      {"{a: 0x10\n}", R"({"a": "0x10"})"},
      {"{a: 1_024\n}", R"({"a": "1_024"})"},
      {"{a: 2*8\n}", R"({"a": "2*8"})"},
      {"{a: NaN\n}", R"({"a": "NaN"})"},
      {"{a: -Infinity\n}", R"({"a": "-Infinity"})"},
      {"{a: .5\n}", R"({"a": ".5"})"},
      {"{a: 5.\n}", R"({"a": "5."})"},
      {"{a: 1e9}", R"({"a": 1e9})"},
      {"{a: -1.5E-3 }", R"({"a": -1.5E-3})"},
      {"{a: 5 x\n}", R"({"a": "5 x"})"},
      {"{a: 1 2\n}", R"({"a": "1 2"})"},
      {"[1, 2 3\n]", R"([1, "2 3"])"},
      {"[\n1\n2\n]", "[1, 2]"},
      {"[1,\n]", "[1]"},
      {"[a\nb\n]", R"(["a", "b"])"},
      {"{'a': 'x \"y\"'}", R"({"a": "x \"y\""})"},
      {"{\"a\": \"it's\"}", R"({"a": "it's"})"},
      {"{a: 'it\\'s'}", R"({"a": "it's"})"},
      {"{a: \"\\/\\b\\u0041\"}", R"({"a": "/\bA"})"},
      {"{\n  a:\n    '''\n    one\n      two\n    '''\n}", R"({"a": "one\n  two"})"},
      {"{\n a: '''x''' }", R"({"a": "x"})"},
      {"{\n a: '''x''y'''\n}", R"({"a": "x''y"})"},
      {"{a: ''}", R"({"a": ""})"},
      {"{a:\n\n  5}", R"({"a": 5})"},
      {"{a:# c\n 5}", R"({"a": 5})"},
      {"{a : 1\n}", R"({"a": 1})"},
      {"{a\n: 1\n}", R"({"a": 1})"},
      {"{a\u3000 : 1\n}", R"({"a": 1})"},
      {"{a: \u3000null\n}", R"({"a": "null"})"},
      {"{a#b: 1\n}", R"({"a#b": 1})"},
      {"{lr-decay: 1\n}", R"({"lr-decay": 1})"},
      {"{a: \u4e2d\u6587  \u3000\n}", "{\"a\": \"\u4e2d\u6587\"}"},
      {"{a: /x/y\n}", R"({"a": "/x/y"})"},
      {"{a: http://x\n}", R"({"a": "http://x"})"},
      {"5", "5"},
      {"word", "\"word\""},
      {"true", "true"},
      {"{a: 1}\n// end", R"({"a": 1})"},
      {"{a: 1}\r\n\r\n", R"({"a": 1})"},
      {"{a: x\r\n b: y\r\n}", R"({"a": "x", "b": "y"})"},
  };
  for (const Accepted& accepted : cases) EXPECT_EQ(read(accepted.text), accepted.json) << accepted.text;
}

struct Refused {
  const char* text;
  const char* where;
  const char* what;    // a part of it
  const char* remedy;  // a part of it
};

TEST(Hjson, RefusesWhatThePackageRefuses) {
  const Refused cases[] = {
      {"{a: }", "c.hjson:1:5", "} stands where a value is expected", "give the value"},
      {"{a: [X, Y],\n}", "c.hjson:2:1", "} stands where a value", "line 1, column 6 in quotes"},
      {"{a: abc}", "c.hjson:1:9", "text ends before", "line 1, column 5 in quotes"},
      {"{a: [X, Y]\nb: 1}", "c.hjson:2:6", "opened at line 1, column 5", "line 2, column 1 in quotes"},
      {"{,a: 1}", "c.hjson:1:2", ", stands where a key", "remove it"},
      {"{a: 1,,}", "c.hjson:1:7", ", stands where a key", "remove it"},
      {"{a b: 1}", "c.hjson:1:2", "holds a blank", "quotes"},
      {"{: 1}", "c.hjson:1:2", "no key before it", "key: value"},
      {"{a: \"x\n\"}", "c.hjson:1:5", "no closing quote on its line", "\\n"},
      {"{a: \"x", "c.hjson:1:5", "no closing quote", "close it with \""},
      {"{a: '''x", "c.hjson:1:5", "''' is not closed", "'''"},
      {"{a: \"\\x\"}", "c.hjson:1:6", "backslash", "\\\\"},
      {"{a: \"\t\"}", "c.hjson:1:6", "control character", "\\t"},
      {"/* x", "c.hjson:1:1", "comment is not closed", "*/"},
      {"{a: 1} b", "c.hjson:1:8", "after the end", "closed too early"},
      {"{a: 1", "c.hjson:1:6", "opened at line 1, column 1", "close it with }"},
      {"[1", "c.hjson:1:3", "opened at line 1, column 1", "close it with ]"},
      {"{a", "c.hjson:1:2", "text ends within a key", "key: value"},
      {"{a:", "c.hjson:1:4", "has no value", "give the value"},
      {"{a \"x\"}", "c.hjson:1:2", "holds a blank", "colon missing"},
      {"{\"a\" 1}", "c.hjson:1:6", "not followed by a colon", "\"key\": value"},
      {"{a: \xff\n}", "c.hjson:1:5", "not valid UTF-8", "UTF-8"},
  };
  for (const Refused& refused : cases) {
    const Problem problem = problem_of(refused.text);
    EXPECT_EQ(problem.where, refused.where) << refused.text;
    EXPECT_NE(problem.what.find(refused.what), std::string::npos) << refused.text << " gives " << problem.what;
    EXPECT_NE(problem.remedy.find(refused.remedy), std::string::npos) << refused.text << " gives " << problem.remedy;
  }
}

TEST(Hjson, PositionsOfKeysAndValues) {
  const JsonValue value = parse_json("# c\n{\n  a: 1\n  b: [\n    x y\n  ]\n}", "c.hjson", JsonDialect::kHjson);
  EXPECT_EQ(value.position(), (Position{2, 1}));
  EXPECT_EQ(value.members()[0].key_position, (Position{3, 3}));
  EXPECT_EQ(value.members()[0].value.position(), (Position{3, 6}));
  EXPECT_EQ(value.members()[1].value.items()[0].position(), (Position{5, 5}));
}

TEST(Hjson, DeepNestingIsRefused) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "{a:";
  EXPECT_THROW(read(text), UserError);
  EXPECT_THROW(read(std::string(100000, '[')), UserError);
}

}  // namespace
}  // namespace athanor::base
