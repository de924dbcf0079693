#include "core/data/data_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "core/base/unicode.h"
#include "core/data/row_example.h"
#include "tests/unit/core/data/data_case.h"

namespace athanor::data {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

DataReport report_of(const Dataset& dataset, const RowOptions& options, const formats::Tokenizer* tokenizer = nullptr,
                     ExampleMarks marks = ExampleMarks::kBrackets) {
  return make_data_report(dataset, make_rows(dataset, options), tokenizer, marks);
}

Document tokens_of(const Ids& tokens, std::size_t learnt_from = 0) {
  Document document;
  document.kind = DocumentKind::kTokens;
  document.tokens = document.labels = tokens;
  std::fill_n(document.labels.begin(), learnt_from, kNoTarget);
  return document;
}

std::string example_of(const Document& document, const formats::Tokenizer* tokenizer) {
  const Dataset dataset = dataset_of({document});
  return report_of(dataset, {}, tokenizer).example;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string without_colour(std::string text) {
  for (const char* code : {kColourBegin, kColourEnd}) {
    for (std::size_t at = text.find(code); at != std::string::npos; at = text.find(code))
      text.erase(at, std::string(code).size());
  }
  return text;
}

// ---- the numbers

TEST(DataReport, CountsRowsTokensTargetsAndCuts) {
  const Dataset dataset = dataset_of({document_of(DocumentKind::kConversation, 0, 10, 4),   // cut to 6
                                      document_of(DocumentKind::kConversation, 0, 9, 7),    // cut before its response
                                      document_of(DocumentKind::kFile, 0, 9),               // split in two
                                      document_of(DocumentKind::kConversation, 0, 4, 4)});  // nothing to learn
  const DataReport report = report_of(dataset, {.max_length = 6});
  EXPECT_EQ(report.num_documents, 4);
  EXPECT_EQ(report.num_rows, 3);
  EXPECT_EQ(report.num_tokens, 6 + 6 + 3);
  EXPECT_EQ(report.num_targets, 2 + 5 + 2);
  EXPECT_EQ(report.num_cut_documents, 2);
  EXPECT_EQ(report.num_cut_tokens, 4 + 3);
  EXPECT_EQ(report.num_split_documents, 1);
  EXPECT_EQ(report.num_without_target, 2);
  EXPECT_EQ(report.num_cut_before_target, 1);
  EXPECT_THAT(report.without_target_places, ElementsAre("made.jsonl:2", "made.jsonl:4"));
}

TEST(DataReport, NamesTheFirstFiveDocumentsWithoutTargets) {
  std::vector<Document> documents = {document_of(DocumentKind::kText, 0, 3)};
  for (int i = 0; i < 8; ++i) documents.push_back(document_of(DocumentKind::kConversation, 0, 3, 3));
  const DataReport report = report_of(dataset_of(documents), {});
  EXPECT_EQ(report.num_without_target, 8);
  EXPECT_THAT(report.without_target_places,
              ElementsAre("made.jsonl:2", "made.jsonl:3", "made.jsonl:4", "made.jsonl:5", "made.jsonl:6"));
  EXPECT_THAT(format_data_report(report), HasSubstr("and 3 more"));
}

TEST(DataReport, LengthsAreThoseBeforeTheCut) {
  std::vector<Document> documents;
  for (std::size_t length = 100; length >= 1; --length)
    documents.push_back(document_of(DocumentKind::kText, 0, length));
  const DataReport report = report_of(dataset_of(documents), {.max_length = 10});
  EXPECT_EQ(report.shortest, 1);
  EXPECT_EQ(report.median, 50);
  EXPECT_EQ(report.p95, 95);
  EXPECT_EQ(report.longest, 100);
}

TEST(DataReport, LengthsOfOneDocumentAreAllItsOwn) {
  const DataReport report = report_of(dataset_of({document_of(DocumentKind::kText, 0, 7)}), {});
  EXPECT_THAT((std::vector<std::int64_t>{report.shortest, report.median, report.p95, report.longest}),
              ElementsAre(7, 7, 7, 7));
}

// ---- EOS and BOS

TEST(DataReport, ShareEndingInEosIsOfWhatIsLearntToItsEnd) {
  const formats::Tokenizer tokenizer = deepseek_like();
  const Dataset dataset = dataset_of({tokens_of({kBos, 'a', kEos}), tokens_of({kBos, 'a', 'b'}),
                                      tokens_of({kBos, 'a', 'b', 'c', kEos}), tokens_of({kBos, 'a', kEos}), [] {
                                        Document open_end = tokens_of({kBos, 'a', 'b', 'c'});
                                        open_end.labels[3] = kNoTarget;  // a question without an answer ends it
                                        return open_end;
                                      }()});
  EXPECT_DOUBLE_EQ(report_of(dataset, {}, &tokenizer).share_ending_in_eos.value(), 3.0 / 4.0);
  // The cut takes the EOS of the longest.
  EXPECT_DOUBLE_EQ(report_of(dataset, {.max_length = 4}, &tokenizer).share_ending_in_eos.value(), 2.0 / 4.0);
}

TEST(DataReport, SplitDocumentEndsWithItsLastPiece) {
  const formats::Tokenizer tokenizer = deepseek_like();
  Document file = document_of(DocumentKind::kFile, 'a', 20);
  file.tokens.push_back(kEos);
  file.labels.push_back(kEos);
  for (const auto packing : {config::PackingMode::kOff, config::PackingMode::kOn}) {
    EXPECT_DOUBLE_EQ(
        report_of(dataset_of({file}), {.max_length = 8, .packing = packing}, &tokenizer).share_ending_in_eos.value(),
        1.0);
  }
}

TEST(DataReport, ShareEndingInEosIsNotKnownWithoutTokenizerOrLearntEnds) {
  const formats::Tokenizer tokenizer = deepseek_like();
  EXPECT_FALSE(report_of(dataset_of({tokens_of({1, 2})}), {}).share_ending_in_eos.has_value());
  Document open_end = tokens_of({kBos, 'a', 'b'});
  open_end.labels[2] = kNoTarget;
  EXPECT_FALSE(report_of(dataset_of({open_end}), {}, &tokenizer).share_ending_in_eos.has_value());
}

TEST(DataReport, DoubleBosIsCountedWithTheFirstPlace) {
  const formats::Tokenizer tokenizer = deepseek_like();
  const Dataset dataset = dataset_of(
      {tokens_of({kBos, 'a', kEos}), tokens_of({kBos, kBos, 'a', kEos}),        // template and tokenizer both
       tokens_of({kBos, '\n', kBos, 'a', kEos}),                                // with something between
       tokens_of({'a', kBos, kBos, kEos}),                                      // not at the beginning
       tokens_of({kBos, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', kBos, 'a'})});  // a text that names the token
  const DataReport report = report_of(dataset, {}, &tokenizer);
  EXPECT_EQ(report.num_double_bos, 2);
  EXPECT_EQ(report.double_bos_place, "made.jsonl:2");
  EXPECT_THAT(format_data_report(report), HasSubstr("2 documents, the first:"));
}

TEST(DataReport, TextsOfOurOwnHaveNoDoubleBosAndEndInEos) {
  DataCase data("{\"text\": \"" + kBosText + "a\"}\n{\"text\": \"b\"}\n");
  const formats::Tokenizer tokenizer = deepseek_like();
  data.request.tokenizer = &tokenizer;
  const DataReport report = report_of(data.open(), {}, &tokenizer);
  EXPECT_EQ(report.num_double_bos, 0);
  EXPECT_EQ(report.share_ending_in_eos, 1.0);
}

TEST(DataReport, SkippedLinesAreSaid) {
  DataCase data("bad\n" + ids_row({1, 2}));
  data.config.skip_bad_lines = true;
  const DataReport report = report_of(data.open(), {});
  EXPECT_EQ(report.num_skipped_lines, 1);
  EXPECT_THAT(format_data_report(report), HasSubstr("1 bad line"));
}

// ---- the example

TEST(DataExample, LearntPartsStandInBrackets) {
  DataCase data(R"({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo"}]})"
                "\n");
  const formats::Tokenizer tokenizer = deepseek_like();
  data.request.tokenizer = &tokenizer;
  const Dataset dataset = data.open();
  const DataReport report = report_of(dataset, {}, &tokenizer);
  EXPECT_EQ(report.example, kBosText + kUserText + "Hi" + kAssistantText + "[[Yo" + kEosText + "]]");
  EXPECT_EQ(report.example_place, dataset.place_of(0));
  EXPECT_EQ(report_of(dataset, {}, &tokenizer, ExampleMarks::kColour).example,
            kBosText + kUserText + "Hi" + kAssistantText + "\x1b[32mYo" + kEosText + "\x1b[0m");
}

TEST(DataExample, WithoutTokenizerItIsIds) {
  EXPECT_EQ(example_of(document_of(DocumentKind::kTokens, 5, 4, 2), nullptr), "5 6 [[7 8]]");
}

TEST(DataExample, IdWithoutATokenIsShownAsOne) {
  const formats::Tokenizer tokenizer = deepseek_like();
  EXPECT_EQ(example_of(tokens_of({'a', 'b', 300}), &tokenizer), "a[[b<id 300>]]");
}

TEST(DataExample, IsARowOfMiddleLength) {
  const DataReport report =
      report_of(dataset_of({document_of(DocumentKind::kTokens, 0, 30), document_of(DocumentKind::kTokens, 0, 2),
                            document_of(DocumentKind::kTokens, 0, 9)}),
                {});
  EXPECT_EQ(report.example_place, "made.jsonl:3");
}

TEST(DataExample, PackedDocumentsAreToldApart) {
  const Dataset dataset =
      dataset_of({document_of(DocumentKind::kTokens, 1, 3), document_of(DocumentKind::kTokens, 4, 2)});
  EXPECT_EQ(report_of(dataset, {.max_length = 8, .packing = config::PackingMode::kOn}).example,
            "1 [[2 3]]\n-- next document --\n4 [[5]]");
}

TEST(DataExample, LongPartsAreShortenedInTheirMiddleAndBordersStay) {
  const formats::Tokenizer tokenizer = deepseek_like();
  std::string text;
  for (int i = 0; i < 400; ++i) text += "\xe5\xbe\x85";  // three tokens each: cuts fall inside characters
  Document document = tokens_of(bytes_of(text + "?" + text));
  std::fill_n(document.labels.begin(), text.size() + 1, kNoTarget);
  const std::string example = example_of(document, &tokenizer);
  EXPECT_EQ(base::find_invalid_utf8(example), std::string::npos);
  EXPECT_THAT(example, Not(HasSubstr("\xef\xbf\xbd")));
  EXPECT_THAT(example, HasSubstr("?[[\xe5\xbe\x85"));
  EXPECT_THAT(example, HasSubstr(" ... (1097 tokens) ... "));
  EXPECT_THAT(example, EndsWith("\xe5\xbe\x85]]"));
  EXPECT_LT(example.size(), 400U);
}

TEST(DataExample, WhatATerminalWouldActOnIsSpelledOut) {
  const formats::Tokenizer tokenizer = deepseek_like();
  EXPECT_EQ(example_of(tokens_of(bytes_of("a\x1b[2Jb\r\n\tc\x7f\xc2\x9b")), &tokenizer),
            "a[[\\x1b[2Jb\\x0d\n    c\\x7f\\x9b]]");
}

TEST(DataExample, RowOfManyPartsIsShownByTheFirstOnes) {
  Document document = document_of(DocumentKind::kTokens, 0, 60);
  for (std::size_t i = 0; i < 60; i += 2) document.labels[i] = kNoTarget;
  EXPECT_THAT(example_of(document, nullptr), EndsWith("8 [[9]]\n... (50 more tokens in this row)"));
}

// ---- as text and as JSON

DataReport long_report(ExampleMarks marks) {
  DataReport report;
  report.num_documents = report.num_rows = report.num_tokens = report.num_targets = 123456789012;
  report.num_skipped_lines = 5;
  report.shortest = 1;
  report.median = report.p95 = report.longest = 1234567890;
  report.num_cut_documents = report.num_cut_tokens = report.num_split_documents = 1234567890123;
  report.num_without_target = report.num_cut_before_target = report.num_double_bos = 123456789;
  const std::string deep = "/a/very/long/path/of/a/data/set/that/somebody/keeps/far/down/in/their/home/rows.jsonl:17";
  report.without_target_places = {deep, deep};
  report.double_bos_place = report.example_place = deep;
  report.share_ending_in_eos = 0.5;
  std::string words;
  for (int i = 0; i < 60; ++i) words += "\xe6\x98\xa5 spring ";
  report.example = "begin " + words + (marks == ExampleMarks::kColour ? kColourBegin : kLearntBegin) + words + "\n" +
                   words + (marks == ExampleMarks::kColour ? kColourEnd : kLearntEnd);
  return report;
}

TEST(FormatDataReport, FitsEightyColumns) {
  for (const auto marks : {ExampleMarks::kBrackets, ExampleMarks::kColour}) {
    const std::string text = format_data_report(long_report(marks));
    EXPECT_FALSE(text.ends_with('\n'));
    for (const std::string& line : lines_of(text)) {
      EXPECT_LE(base::display_width(without_colour(line)), 80) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
    EXPECT_THAT(text, HasSubstr("...")) << "long places lose their beginning";
    EXPECT_THAT(text, HasSubstr("rows.jsonl:17"));
  }
}

TEST(FormatDataReport, ColourEndsWithEachLineAndGoesOnInTheNext) {
  const std::string text = format_data_report(long_report(ExampleMarks::kColour));
  for (const std::string& line : lines_of(text)) {
    const std::size_t begin = line.rfind(kColourBegin);
    if (begin == std::string::npos) continue;
    EXPECT_NE(line.find(kColourEnd, begin), std::string::npos) << line;
  }
  EXPECT_THAT(text, HasSubstr(std::string("  | ") + kColourBegin));
  EXPECT_THAT(text, HasSubstr("learnt parts in colour"));
}

// What a person sees, whole.
TEST(FormatDataReport, ReadsAsAPersonSeesIt) {
  DataReport report;
  report.num_documents = 1204;
  report.num_rows = 311;
  report.num_tokens = 158730;
  report.num_targets = 102411;
  report.shortest = 12;
  report.median = 118;
  report.p95 = 301;
  report.longest = 1311;
  report.num_cut_documents = 9;
  report.num_cut_tokens = 2204;
  report.num_without_target = report.num_cut_before_target = 2;
  report.without_target_places = {"rows/b.jsonl:17", "rows/b.jsonl:230"};
  report.share_ending_in_eos = 1.0;
  report.example_place = "rows/a.jsonl:52";
  report.example = "User: Name a gas.\n\nAssistant:[[ Neon.<eos>]]";
  EXPECT_EQ(format_data_report(report), R"(training data
  documents        1,204 in 311 rows
  tokens           158,730, of them 102,411 learnt (64.5 %)
  document length  shortest 12, median 118, 95 % up to 301, longest 1,311 tokens
  cut              9 documents lost 2,204 tokens at the end
  nothing to learn 2 documents left out, 2 because the cut took it; first:
                   rows/b.jsonl:17
                   rows/b.jsonl:230
  end in EOS       100.0 % of the documents that are learnt to their end
  double BOS       none
  one row          learnt parts in [[ ]]
                   rows/a.jsonl:52
  | User: Name a gas.
  |
  | Assistant:[[ Neon.<eos>]])");
}

TEST(DataReportToJson, HoldsEveryNumberAndBracketsForColour) {
  const base::JsonValue json = data_report_to_json(long_report(ExampleMarks::kColour));
  EXPECT_EQ(json.find("num_tokens")->as_integer(), 123456789012);
  EXPECT_EQ(json.find("document_length")->find("p95")->as_integer(), 1234567890);
  EXPECT_EQ(json.find("num_cut_tokens")->as_integer(), 1234567890123);
  EXPECT_DOUBLE_EQ(json.find("share_ending_in_eos")->as_double(), 0.5);
  EXPECT_EQ(json.find("without_target_places")->items().size(), 2U);
  EXPECT_THAT(json.find("example")->as_string(), HasSubstr("[["));
  EXPECT_THAT(json.find("example")->as_string(), Not(HasSubstr("\x1b")));
  EXPECT_TRUE(data_report_to_json({}).find("share_ending_in_eos")->is_null());
}

}  // namespace
}  // namespace athanor::data
