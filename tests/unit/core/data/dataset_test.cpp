// open_dataset(): what becomes of files, and of bad ones. The cache is in dataset_cache_test.cpp.
#include "core/data/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "core/base/error.h"
#include "core/formats/indexed_tokens.h"
#include "tests/unit/core/data/data_case.h"

namespace athanor::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct TextCase : DataCase {
  formats::Tokenizer tokenizer = formats::Tokenizer::bytes();
  TextCase() { request.tokenizer = &tokenizer; }
};

std::string text_row(const std::string& text) { return R"({"text": ")" + text + "\"}\n"; }

std::string text_of(const TextCase& data, const Dataset& dataset, std::int64_t document) {
  return data.tokenizer.decode(dataset.document(document).tokens, formats::SpecialText::kSkip);
}

std::vector<base::Problem> problems_of(const DataCase& data) {
  try {
    data.open();
  } catch (const base::UserError& error) {
    return error.problems();
  }
  return {};
}

// ---- what is read

TEST(OpenDataset, LinesOfSeveralFilesComeInOrderWithTheirPlaces) {
  TextCase data;
  const std::string a = data.add_file("a.jsonl", text_row("one") + "\n" + text_row("two"));
  const std::string b = data.add_file("b.json", "[\n  {\"text\": \"three\"},\n\n  {\"text\": \"four\"}\n]");
  const std::string c = data.add_file("c.txt", "five\nsix");
  const Dataset dataset = data.open();
  ASSERT_EQ(dataset.num_documents(), 5);
  std::vector<std::string> texts, places;
  for (std::int64_t i = 0; i < 5; ++i) {
    texts.push_back(text_of(data, dataset, i));
    places.push_back(dataset.place_of(i));
  }
  EXPECT_THAT(texts, ElementsAre("one", "two", "three", "four", "five\nsix"));
  EXPECT_THAT(places, ElementsAre(a + ":1", a + ":3", b + ":2", b + ":4", c + ":1"));
  EXPECT_EQ(dataset.document(4).kind, DocumentKind::kFile);
  EXPECT_EQ(dataset.document(0).kind, DocumentKind::kText);
  EXPECT_EQ(dataset.num_tokens(), 3 + 3 + 5 + 4 + 8 + 5 * 2);  // BOS and EOS in each
}

TEST(OpenDataset, ByteOrderMarkAndWindowsLineEndsAreNoPartOfTheRows) {
  TextCase data;
  data.add_file("a.jsonl", "\xef\xbb\xbf{\"text\": \"one\"}\r\n\r\n{\"text\": \"two\"}\r\n");
  const Dataset dataset = data.open();
  ASSERT_EQ(dataset.num_documents(), 2);
  EXPECT_EQ(text_of(data, dataset, 1), "two");
  EXPECT_EQ(dataset.document(1).line, 3U);
}

TEST(OpenDataset, LastLineNeedsNoLineEnd) {
  TextCase data;
  data.add_file("a.jsonl", text_row("one") + R"({"text": "two"})");
  EXPECT_EQ(data.open().num_documents(), 2);
}

TEST(OpenDataset, TokenFilesGiveTheirDocumentsWhole) {
  DataCase data;
  formats::IndexedTokensWriter writer(data.folder.file("tokens"), formats::TokenType::kUint16);
  writer.add_document(Ids{5, 6, 7});
  writer.add_sequence(Ids{8});
  writer.add_sequence(Ids{9, 10});
  writer.end_document();
  writer.commit();
  data.request.patterns = {data.folder.file("tokens.bin")};
  const Dataset dataset = data.open();
  ASSERT_EQ(dataset.num_documents(), 2);
  EXPECT_THAT(ids_of(dataset.document(0).tokens), ElementsAre(5, 6, 7));
  EXPECT_THAT(ids_of(dataset.document(1).tokens), ElementsAre(8, 9, 10));
  EXPECT_THAT(ids_of(dataset.document(1).labels), ElementsAre(8, 9, 10));
}

TEST(OpenDataset, TextFileIsSplitAtTheSeparatorWhenOneIsNamed) {
  TextCase data;
  data.config.text_separator = "---";
  const std::string path = data.add_file("a.txt", "one\ntwo\n---\nthree\n");
  const Dataset dataset = data.open();
  ASSERT_EQ(dataset.num_documents(), 2);
  EXPECT_EQ(text_of(data, dataset, 0), "one\ntwo");
  EXPECT_EQ(text_of(data, dataset, 1), "three");
  EXPECT_EQ(dataset.place_of(1), path + ":4");
}

TEST(OpenDataset, FirstSamplesCanBeTakenAlone) {
  TextCase data;
  for (const char* name : {"a.jsonl", "b.jsonl"}) data.add_file(name, text_row("1") + text_row("2") + text_row("3"));
  const std::string whole = data.open().fingerprint();
  for (const std::int64_t count : {0, 2, 3, 4, 6, 100}) {
    data.request.max_samples = count;
    const Dataset dataset = data.open();
    EXPECT_EQ(dataset.num_documents(), std::min<std::int64_t>(count, 6));
    EXPECT_NE(dataset.fingerprint(), whole) << "a resumed run must notice";
  }
}

// Several ranges of one file, tokenised by several threads: the same documents, with the lines they stand in.
TEST(OpenDataset, LargeFileTokenisedInParallelIsTheSame) {
  TextCase serial, parallel;
  const std::string filler(60000, 'x');
  std::string text;
  for (int i = 0; i < 160; ++i)
    text += R"({"text": "row )" + std::to_string(i) + R"(", "filler": ")" + filler + "\"}\n";
  serial.add_file("a.jsonl", text);
  parallel.add_file("a.jsonl", text);
  const auto in_threads = [](std::size_t n, const std::function<void(std::size_t)>& body) {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < n; ++i) threads.emplace_back([&body, n, i] { body(n - 1 - i); });
    for (std::thread& thread : threads) thread.join();
  };
  const Dataset one = serial.open();
  const Dataset other = parallel.open({.parallel_for = in_threads});
  ASSERT_EQ(one.num_documents(), 160);
  ASSERT_EQ(other.num_documents(), 160);
  for (std::int64_t i = 0; i < 160; ++i) {
    EXPECT_EQ(text_of(serial, one, i), "row " + std::to_string(i));
    EXPECT_EQ(ids_of(one.document(i).tokens), ids_of(other.document(i).tokens));
    EXPECT_EQ(one.document(i).line, static_cast<std::uint32_t>(i + 1));
    EXPECT_EQ(other.document(i).line, static_cast<std::uint32_t>(i + 1));
  }
}

// ---- bad lines

TEST(BadLines, AreNamedWithFileAndLine) {
  TextCase data;
  const std::string a = data.add_file("a.jsonl", text_row("one") + "{\"text\": \"two\"\n" + "{\"txt\": \"three\"}\n");
  const std::string b = data.add_file("b.jsonl", "[1]\n");
  data.request.patterns = {a};
  const std::vector<base::Problem> problems = problems_of(data);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].where, a + ":2");
  EXPECT_THAT(problems[0].what, HasSubstr("(column "));
  EXPECT_EQ(problems[1].where, a + ":3");
  EXPECT_THAT(problems[1].what, HasSubstr("it has txt"));
  for (const base::Problem& problem : problems) EXPECT_THAT(problem.remedy, HasSubstr("--skip_bad_lines"));
}

TEST(BadLines, HalfASurrogateAndOtherBytesThanUtf8AreBadLines) {
  TextCase data;
  const std::string a = data.add_file("a.jsonl", text_row("\\ud800") + text_row("\xff") + text_row("good"));
  const std::vector<base::Problem> problems = problems_of(data);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].where, a + ":1");
  EXPECT_EQ(problems[1].where, a + ":2");
}

TEST(BadLines, AreNamedUpToTwentyAndCountedBeyond) {
  TextCase data;
  std::string text = text_row("good");
  for (int i = 0; i < 33; ++i) text += "bad\n";
  const std::string a = data.add_file("a.jsonl", text);
  const std::vector<base::Problem> problems = problems_of(data);
  ASSERT_EQ(problems.size(), 21U);
  EXPECT_EQ(problems[0].where, a + ":2");
  EXPECT_EQ(problems[19].where, a + ":21");
  EXPECT_EQ(problems[20].what, "13 more lines cannot be read");
}

TEST(BadLines, AreCountedAndLeftOutWhenTheyAreToBeSkipped) {
  TextCase data;
  data.config.skip_bad_lines = true;
  data.add_file("a.jsonl", text_row("one") + "bad\n" + text_row("two") + "{}\n");
  for (const char* when : {"built", "from the cache"}) {
    const Dataset dataset = data.open();
    EXPECT_EQ(dataset.num_documents(), 2) << when;
    EXPECT_EQ(dataset.num_skipped_lines(), 2) << when;
    EXPECT_EQ(dataset.document(1).line, 3U) << when;
  }
}

TEST(BadLines, AloneAreNothingToTrainOnThoughTheyAreSkipped) {
  TextCase data;
  data.config.skip_bad_lines = true;
  const std::string a = data.add_file("a.jsonl", "bad\nbad\n");
  const std::vector<base::Problem> problems = problems_of(data);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].what, "there is no row to train on");
  EXPECT_EQ(problems[0].where, a);
}

TEST(BadLines, FileOfEmptyLinesIsNothingToTrainOn) {
  TextCase data;
  data.add_file("a.jsonl", "\n \n\r\n");
  ASSERT_EQ(problems_of(data).size(), 1U);
  EXPECT_EQ(problems_of(data)[0].what, "there is no row to train on");
}

TEST(BadLines, TornArrayIsRefusedWithItsPlace) {
  TextCase data;
  const std::string a = data.add_file("a.json", "[\n{\"text\": \"one\"},\n{\"text\":");
  const std::vector<base::Problem> problems = problems_of(data);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems[0].where, HasSubstr(a + ":3"));
}

TEST(BadLines, TextFileThatIsNoUtf8IsNamed) {
  TextCase data;
  const std::string a = data.add_file("a.txt", "good\xff");
  const std::vector<base::Problem> problems = problems_of(data);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].where, a + ":1");
  EXPECT_THAT(problems[0].what, HasSubstr("no UTF-8 at byte 4"));
}

// ---- vocabulary

TEST(Vocabulary, IdBeyondTheModelsIsABadLine) {
  DataCase data(ids_row({1, 2}) + ids_row({3, 10}));
  data.request.vocab_size = 10;
  const std::vector<base::Problem> problems = problems_of(data);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].what, "input_ids[1] is 10, the model's vocab_size is 10");
  EXPECT_THAT(problems[0].where, HasSubstr("rows.jsonl:2"));
}

TEST(Vocabulary, SmallerModelIsRefusedThoughTheCacheIsThere) {
  DataCase data(ids_row({1, 2}) + ids_row({3, 10}));
  data.request.vocab_size = 11;
  data.open();
  data.request.vocab_size = 10;
  const std::vector<base::Problem> problems = problems_of(data);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].what, "the row holds the id 10, the model's vocab_size is 10");
  EXPECT_THAT(problems[0].where, HasSubstr("rows.jsonl:2"));
}

TEST(Vocabulary, LabelBeyondTheModelsIsFoundInACacheToo) {
  DataCase data("{\"input_ids\": [1, 2], \"labels\": [-100, 10]}\n");
  data.request.vocab_size = 11;
  data.open();
  data.request.vocab_size = 10;
  EXPECT_EQ(problems_of(data).size(), 1U);
}

// Which lines are bad depends on the model: what was skipped for a small one is there for a larger one.
TEST(Vocabulary, LinesSkippedForASmallModelAreThereForALargerOne) {
  DataCase data(ids_row({1, 2}) + ids_row({3, 10}));
  data.config.skip_bad_lines = true;
  data.request.vocab_size = 10;
  EXPECT_EQ(data.open().num_documents(), 1);
  data.request.vocab_size = 11;
  EXPECT_EQ(data.open().num_documents(), 2);
  data.request.vocab_size = 10;
  EXPECT_EQ(data.open().num_documents(), 1);
}

TEST(Vocabulary, TokenizerLargerThanTheModelIsRefused) {
  TextCase data;
  data.add_file("a.jsonl", text_row("one"));
  data.request.vocab_size = 100;
  const std::vector<base::Problem> problems = problems_of(data);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems[0].what, HasSubstr("the model's vocab_size is 100"));
  EXPECT_EQ(problems[0].where, "tokenizer_name");
}

// ---- settings

TEST(Settings, TemplateWhoseMarkersTheTokenizerLacksIsRefused) {
  TextCase data;
  data.add_file("a.jsonl", text_row("one"));
  data.config.chat_template = "deepseek-v3";
  const std::vector<base::Problem> problems = problems_of(data);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems[0].what, HasSubstr("the tokenizer has no token " + kUserText + ", which deepseek-v3 needs"));
  EXPECT_EQ(problems[0].where, "chat_template");
}

TEST(Settings, NoFileIsRefusedByTheNameOfTheOption) {
  DataCase data;
  data.request.option_name = "validation_file";
  data.request.patterns = {data.folder.file("none.jsonl")};
  EXPECT_NE(problems_of(data).size(), 0U);
  data.request.patterns = {};
  EXPECT_EQ(problems_of(data).at(0).where, "validation_file");
}

TEST(Settings, EachOneReachesTheTokens) {
  TextCase data;
  data.add_file("a.jsonl", R"({"text": "a", "body": "b"})"
                           "\n");
  const auto tokens = [&] { return ids_of(data.open().document(0).tokens); };
  EXPECT_THAT(tokens(), ElementsAre(256, 'a', 257));
  data.config.text_column = "body";
  EXPECT_THAT(tokens(), ElementsAre(256, 'b', 257));
  data.config.add_bos = false;
  EXPECT_THAT(tokens(), ElementsAre('b', 257));
  data.config.add_eos = false;
  EXPECT_THAT(tokens(), ElementsAre('b'));
}

TEST(Settings, PromptsAreLearntWhenAskedFor) {
  TextCase data;
  data.add_file("a.jsonl", R"({"instruction": "a", "output": "b"})"
                           "\n");
  const auto learnt = [&] { return learnt_text(data.tokenizer, data.open().document(0).labels); };
  EXPECT_EQ(learnt(), "b<|eos|>");
  data.config.train_on_prompt = true;
  EXPECT_EQ(learnt(), "<|bos|>### Instruction:\na\n### Response:\nb<|eos|>");
}

}  // namespace
}  // namespace athanor::data
