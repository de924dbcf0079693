#include "core/data/source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/error.h"
#include "tests/support/temporary_folder.h"

namespace athanor::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> names_of(const std::vector<SourceFile>& files) {
  std::vector<std::string> names;
  for (const SourceFile& file : files) names.push_back(std::filesystem::path(file.path).filename().string());
  return names;
}

SourceKind kind_of(const testing::TemporaryFolder& folder, const std::string& name, const std::string& content) {
  return open_sources({folder.write(name, content)}, "train_file").front().kind;
}

std::vector<base::Problem> problems_of(const std::vector<std::string>& patterns) {
  try {
    open_sources(patterns, "train_file");
  } catch (const base::UserError& error) {
    return error.problems();
  }
  return {};
}

TEST(OpenSources, KindIsToldByEndingAndBeginning) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(kind_of(folder, "a.jsonl", "{}\n"), SourceKind::kJsonLines);
  EXPECT_EQ(kind_of(folder, "a.ndjson", "{}\n"), SourceKind::kJsonLines);
  EXPECT_EQ(kind_of(folder, "a.JSONL", "{}\n"), SourceKind::kJsonLines);
  EXPECT_EQ(kind_of(folder, "lines.json", "{}\n{}\n"), SourceKind::kJsonLines);
  EXPECT_EQ(kind_of(folder, "array.json", " \n[{}]"), SourceKind::kJsonArray);
  EXPECT_EQ(kind_of(folder, "marked.json", "\xef\xbb\xbf[{}]"), SourceKind::kJsonArray);
  EXPECT_EQ(kind_of(folder, "a.txt", "[no JSON]"), SourceKind::kText);
}

TEST(OpenSources, GlobsAreSortedAndPatternsKeepTheirOrder) {
  const testing::TemporaryFolder folder;
  for (const char* name : {"b2.jsonl", "b10.jsonl", "b1.jsonl", "a.txt"}) folder.write(name, "x");
  EXPECT_THAT(names_of(open_sources({folder.file("b*.jsonl"), folder.file("a.txt")}, "train_file")),
              ElementsAre("b1.jsonl", "b10.jsonl", "b2.jsonl", "a.txt"));
}

TEST(OpenSources, EveryProblemIsNamedAtOnce) {
  const testing::TemporaryFolder folder;
  const std::string empty = folder.write("empty.jsonl", "");
  const std::string unknown = folder.write("rows.parquet", "x");
  const std::vector<base::Problem> problems =
      problems_of({folder.file("none*.jsonl"), empty, unknown, folder.file("missing.jsonl")});
  ASSERT_EQ(problems.size(), 4U);
  EXPECT_THAT(problems[0].what, HasSubstr("no file matches " + folder.file("none*.jsonl")));
  EXPECT_EQ(problems[0].where, "train_file");
  EXPECT_EQ(problems[1].what, "the file is empty");
  EXPECT_EQ(problems[1].where, empty);
  EXPECT_THAT(problems[2].what, HasSubstr("not known by its ending"));
  EXPECT_EQ(problems[2].where, unknown);
  EXPECT_THAT(problems[3].what, HasSubstr("missing.jsonl"));
  for (const base::Problem& problem : problems) EXPECT_NE(problem.remedy, "");
}

TEST(OpenSources, TokenFileWithoutItsIndexIsRefusedWithTheMissingName) {
  const testing::TemporaryFolder folder;
  const std::vector<base::Problem> problems = problems_of({folder.write("tokens.bin", "x")});
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems[0].where, HasSubstr("tokens.idx"));
}

TEST(SplitSources, RangesAreWholeLinesAndCoverTheFile) {
  const testing::TemporaryFolder folder;
  std::string text;
  for (int i = 0; text.size() < (9U << 20); ++i)
    text += std::string(1 + static_cast<std::size_t>(i) * 7919 % 100000, 'x') + "\n";
  text += "the last line has no end";
  const std::vector<SourceFile> files =
      open_sources({folder.write("a.jsonl", text), folder.write("b.jsonl", "{}\n")}, "train_file");
  const std::vector<SourceRange> ranges = split_sources(files, "");
  ASSERT_GT(ranges.size(), 3U);
  std::size_t at = 0;
  for (const SourceRange& range : ranges) {
    if (range.file == 1) break;
    EXPECT_EQ(range.begin, at);
    EXPECT_GT(range.end, range.begin);
    EXPECT_TRUE(range.begin == 0 || text[range.begin - 1] == '\n');
    at = range.end;
  }
  EXPECT_EQ(at, text.size());
  EXPECT_EQ(ranges.back().file, 1U);
  EXPECT_EQ(ranges.back().end, 3U);
}

TEST(SourceFingerprint, ChangesWithContentSizeAndTimeOfChange) {
  const testing::TemporaryFolder folder;
  const auto fingerprint = [&](const std::string& content) {
    return source_fingerprint(open_sources({folder.write("a.jsonl", content)}, "train_file").front());
  };
  const auto set_time = [&](int seconds) {
    std::filesystem::last_write_time(folder.file("a.jsonl"),
                                     std::filesystem::file_time_type(std::chrono::seconds(1000000000 + seconds)));
  };
  const auto again = [&] { return source_fingerprint(open_sources({folder.file("a.jsonl")}, "train_file").front()); };
  fingerprint("abc");
  set_time(0);
  const std::string first = again();
  EXPECT_EQ(again(), first);
  set_time(1);
  EXPECT_NE(again(), first);
  fingerprint("abd");
  set_time(0);
  EXPECT_NE(again(), first);
  fingerprint("abcd");
  set_time(0);
  EXPECT_NE(again(), first);
}

TEST(SourceFingerprint, OfATokenFileChangesWithEachOfItsTwoFiles) {
  const testing::TemporaryFolder folder;
  folder.write("t.idx", "index");
  folder.write("t.bin", "tokens");
  const auto fingerprint = [&] {
    return source_fingerprint(open_sources({folder.file("t.bin")}, "train_file").front());
  };
  const std::string first = fingerprint();
  folder.write("t.bin", "tokens and more");
  EXPECT_NE(fingerprint(), first);
}

}  // namespace
}  // namespace athanor::data
