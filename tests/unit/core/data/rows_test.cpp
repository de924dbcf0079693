#include "core/data/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/random.h"
#include "tests/unit/core/data/data_case.h"

namespace athanor::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::vector<std::uint32_t>> lengths_of(const RowSet& rows) {
  std::vector<std::vector<std::uint32_t>> lengths;
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    lengths.emplace_back();
    for (const Piece& piece : rows.row(i)) lengths.back().push_back(piece.length());
  }
  return lengths;
}

RowOptions cut_to(std::int64_t max_length) { return {.max_length = max_length}; }

RowOptions packed_to(std::int64_t max_length, config::SamplingStrategy sampling = config::SamplingStrategy::kRandom) {
  return {.max_length = max_length, .packing = config::PackingMode::kOn, .sampling = sampling};
}

std::vector<Document> texts(const std::vector<std::size_t>& lengths) {
  std::vector<Document> documents;
  for (const std::size_t length : lengths) documents.push_back(document_of(DocumentKind::kText, 0, length));
  return documents;
}

bool is_split(DocumentKind kind) { return kind == DocumentKind::kText || kind == DocumentKind::kFile; }

// How often each token is to be found in packed rows: once, unless it is cut off or nothing of the document is left to learn.
std::vector<int> expected_tokens(const Document& document, std::size_t max_length) {
  const std::size_t length = document.tokens.size();
  const std::size_t kept = is_split(document.kind) ? length : std::min(length, max_length);
  std::size_t num_targets = 0;
  for (std::size_t i = 1; i < kept; ++i) num_targets += document.labels[i] != kNoTarget ? 1 : 0;
  std::vector<int> times(length, 0);
  if (num_targets > 0) std::fill_n(times.begin(), kept, 1);
  return times;
}

// ---- without packing

TEST(Rows, WithoutPackingADocumentIsARow) {
  const Dataset dataset = dataset_of(texts({3, 5, 2}));
  const RowSet rows = make_rows(dataset, cut_to(8));
  EXPECT_THAT(lengths_of(rows), ElementsAre(ElementsAre(3), ElementsAre(5), ElementsAre(2)));
  EXPECT_EQ(rows.row_tokens(1), 5);
  EXPECT_EQ(rows.statistics().num_documents, 3);
  EXPECT_EQ(rows.statistics().num_rows, 3);
  EXPECT_EQ(rows.statistics().num_tokens, 10);
  EXPECT_EQ(rows.statistics().num_targets, 7);  // the first token of each has nothing before it
  EXPECT_EQ(rows.statistics().num_cut_documents, 0);
}

TEST(Rows, WithoutALimitNothingIsCut) {
  EXPECT_THAT(lengths_of(make_rows(dataset_of(texts({300, 2})), {})), ElementsAre(ElementsAre(300), ElementsAre(2)));
}

TEST(Rows, LongDocumentIsCutAtTheEndAndCounted) {
  for (const DocumentKind kind : {DocumentKind::kText, DocumentKind::kConversation, DocumentKind::kTokens}) {
    const RowSet rows = make_rows(dataset_of({document_of(kind, 0, 11), document_of(kind, 0, 4)}), cut_to(4));
    EXPECT_THAT(lengths_of(rows), ElementsAre(ElementsAre(4), ElementsAre(4)));
    EXPECT_EQ(rows.row(0)[0].begin, 0U);
    EXPECT_EQ(rows.statistics().num_cut_documents, 1);
    EXPECT_EQ(rows.statistics().num_cut_tokens, 7);
    EXPECT_EQ(rows.statistics().num_split_documents, 0);
  }
}

TEST(Rows, WholeFileIsSplitAndNotCut) {
  const Dataset dataset = dataset_of({document_of(DocumentKind::kFile, 0, 11)});
  for (const RowOptions& options : {cut_to(4), packed_to(4)}) {
    const RowSet rows = make_rows(dataset, options);
    EXPECT_THAT(lengths_of(rows), ElementsAre(ElementsAre(4), ElementsAre(4), ElementsAre(3)));
    EXPECT_EQ(rows.row(1)[0].begin, 4U);
    EXPECT_EQ(rows.statistics().num_cut_documents, 0);
    EXPECT_EQ(rows.statistics().num_split_documents, 1);
  }
}

// A piece of one token would have no target: the EOS that ends the document would not be learnt.
TEST(Rows, SplitLeavesNoPieceOfOneToken) {
  std::vector<Document> documents;
  for (std::size_t length = 2; length <= 40; ++length) documents.push_back(document_of(DocumentKind::kFile, 0, length));
  const Dataset dataset = dataset_of(documents);
  for (std::int64_t limit = 3; limit <= 9; ++limit) {
    const RowSet rows = make_rows(dataset, cut_to(limit));
    std::vector<std::uint32_t> ends(documents.size(), 0);
    for (std::int64_t i = 0; i < rows.size(); ++i) {
      const Piece& piece = rows.row(i)[0];
      std::uint32_t& end = ends[static_cast<std::size_t>(piece.document)];
      EXPECT_EQ(piece.begin, end);
      EXPECT_GE(piece.length(), 2U) << "document " << piece.document << " by " << limit;
      EXPECT_LE(piece.length(), limit);
      end = piece.end;
    }
    for (std::size_t i = 0; i < ends.size(); ++i) EXPECT_EQ(ends[i], documents[i].tokens.size()) << "by " << limit;
  }
}

TEST(Rows, DocumentWithoutTargetIsLeftOutAndToldApartFromOneThatWasCut) {
  const Dataset dataset =
      dataset_of({document_of(DocumentKind::kConversation, 0, 5, 5), document_of(DocumentKind::kText, 0, 3),
                  document_of(DocumentKind::kConversation, 0, 9, 7), document_of(DocumentKind::kText, 0, 1),
                  document_of(DocumentKind::kTokens, 0, 0)});
  const RowSet rows = make_rows(dataset, cut_to(6));
  EXPECT_EQ(rows.size(), 1);
  EXPECT_EQ(rows.row(0)[0].document, 1);
  EXPECT_THAT(rows.statistics().without_target, ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(rows.statistics().documents_cut_before_target, ElementsAre(2));
}

TEST(Rows, TargetOnTheFirstTokenIsNone) {
  const RowSet rows = make_rows(dataset_of({document_of(DocumentKind::kTokens, 0, 2, 1)}), cut_to(8));
  EXPECT_EQ(rows.statistics().num_targets, 1);
  Document first_only = document_of(DocumentKind::kTokens, 0, 2, 2);
  first_only.labels[0] = 7;
  EXPECT_THROW(make_rows(dataset_of({first_only}), cut_to(8)), base::UserError);
}

// Prompts of 5 to 140 tokens before responses of 1 to 6, cut to ever shorter rows: what is lost is counted exactly.
TEST(Rows, PromptsLongerThanARowAreCountedExactly) {
  std::vector<Document> documents;
  std::vector<std::size_t> prompts;
  for (std::size_t prompt = 5; prompt <= 140; prompt += 3) {
    prompts.push_back(prompt);
    documents.push_back(document_of(DocumentKind::kConversation, 0, prompt + 1 + prompt % 6, prompt));
  }
  const Dataset dataset = dataset_of(documents);
  for (const std::size_t limit : {128, 48, 32, 24, 16}) {
    std::vector<std::int64_t> lost;
    std::int64_t targets = 0, cut_documents = 0, cut_tokens = 0;
    for (std::size_t i = 0; i < documents.size(); ++i) {
      const std::size_t length = documents[i].tokens.size();
      if (prompts[i] >= limit) lost.push_back(static_cast<std::int64_t>(i));
      targets += static_cast<std::int64_t>(std::min(length, limit) - std::min(prompts[i], limit));
      cut_documents += length > limit ? 1 : 0;
      cut_tokens += static_cast<std::int64_t>(length - std::min(length, limit));
    }
    const RowSet rows = make_rows(dataset, cut_to(static_cast<std::int64_t>(limit)));
    EXPECT_EQ(rows.statistics().without_target, lost) << limit;
    EXPECT_EQ(rows.statistics().documents_cut_before_target, lost) << limit;
    EXPECT_EQ(rows.size(), static_cast<std::int64_t>(documents.size() - lost.size())) << limit;
    EXPECT_EQ(rows.statistics().num_targets, targets) << limit;
    EXPECT_EQ(rows.statistics().num_cut_documents, cut_documents) << limit;
    EXPECT_EQ(rows.statistics().num_cut_tokens, cut_tokens) << limit;
  }
}

TEST(Rows, NoRowLeftIsRefusedWithTheFirstPlaceAndARemedy) {
  const Dataset dataset = dataset_of(
      {document_of(DocumentKind::kConversation, 0, 20, 16), document_of(DocumentKind::kConversation, 0, 30, 18)});
  try {
    make_rows(dataset, cut_to(16));
    FAIL();
  } catch (const base::UserError& error) {
    const base::Problem& problem = error.problems().front();
    EXPECT_THAT(problem.what, HasSubstr("no row has a target left to learn"));
    EXPECT_THAT(problem.what, HasSubstr("2 of 2 documents lost theirs to the cut at 16 tokens"));
    EXPECT_THAT(problem.where, HasSubstr("made.jsonl:1"));
    EXPECT_THAT(problem.remedy, HasSubstr("raise model_max_length"));
  }
}

// ---- with packing

TEST(PackedRows, SeveralDocumentsShareARow) {
  const RowSet rows = make_rows(dataset_of(texts({3, 5})), packed_to(8));
  EXPECT_EQ(rows.size(), 1);
  EXPECT_EQ(rows.row_tokens(0), 8);
  EXPECT_EQ(rows.statistics().num_targets, 6);
}

TEST(PackedRows, BestFitFillsRowsThatFileOrderWouldNot) {
  const RowSet rows = make_rows(dataset_of(texts({6, 3, 5, 4, 5, 7})), packed_to(10));
  EXPECT_EQ(rows.size(), 3);
  EXPECT_EQ(rows.statistics().num_tokens, 30);
}

TEST(PackedRows, NoTwoRowsWouldFitIntoOne) {
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < 60; ++i) lengths.push_back(2 + i * 11 % 29);
  const RowSet rows = make_rows(dataset_of(texts(lengths)), packed_to(32));
  std::vector<std::int64_t> row_tokens;
  for (std::int64_t i = 0; i < rows.size(); ++i) row_tokens.push_back(rows.row_tokens(i));
  std::sort(row_tokens.begin(), row_tokens.end());
  EXPECT_GT(row_tokens[0] + row_tokens[1], 32);
}

TEST(PackedRows, SequentialOrderKeepsTheDocumentsInFileOrder) {
  const RowSet rows =
      make_rows(dataset_of(texts({6, 3, 5, 4, 5, 7})), packed_to(10, config::SamplingStrategy::kSequential));
  std::vector<std::int64_t> documents;
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    for (const Piece& piece : rows.row(i)) documents.push_back(piece.document);
  }
  EXPECT_THAT(documents, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(lengths_of(rows), ElementsAre(ElementsAre(6, 3), ElementsAre(5, 4), ElementsAre(5), ElementsAre(7)));
}

TEST(PackedRows, LongTextIsSplitConversationAndTokenisedRowAreCut) {
  const Dataset dataset =
      dataset_of({document_of(DocumentKind::kText, 0, 11), document_of(DocumentKind::kConversation, 0, 11),
                  document_of(DocumentKind::kTokens, 0, 7)});
  const RowSet rows = make_rows(dataset, packed_to(5));
  EXPECT_EQ(rows.statistics().num_split_documents, 1);
  EXPECT_EQ(rows.statistics().num_cut_documents, 2);
  EXPECT_EQ(rows.statistics().num_cut_tokens, 6 + 2);
  EXPECT_EQ(rows.statistics().num_tokens, 11 + 5 + 5);
}

// Data sets of all kinds and sizes: no row is longer than it may be, and each token that is to be in a row is in one, once.
TEST(PackedRows, NoRowIsTooLongAndNoTokenIsLostOrDoubled) {
  base::RandomStream random(7, 0);
  std::vector<Document> documents;
  for (std::size_t i = 0; i < 120; ++i) {
    const auto kind = static_cast<DocumentKind>(random.below(4));
    const std::size_t length = 1 + random.below(40);
    // Of the kinds that are cut, some learn only late parts or nothing.
    documents.push_back(document_of(kind, 0, length, is_split(kind) ? 0 : random.below(length + 1)));
  }
  Dataset dataset = dataset_of(documents);
  for (std::size_t count = documents.size(); count > 10; --count) {
    dataset.limit(static_cast<std::int64_t>(count));
    const std::size_t max_length = 3 + random.below(14);
    std::vector<std::vector<int>> expected;
    for (std::size_t i = 0; i < count; ++i) expected.push_back(expected_tokens(documents[i], max_length));
    for (const auto sampling : {config::SamplingStrategy::kRandom, config::SamplingStrategy::kSequential}) {
      SCOPED_TRACE(::testing::Message() << count << " documents, rows of " << max_length);
      std::vector<std::vector<int>> found;
      for (std::size_t i = 0; i < count; ++i) found.emplace_back(documents[i].tokens.size(), 0);
      const RowSet rows = make_rows(dataset, packed_to(static_cast<std::int64_t>(max_length), sampling));
      for (std::int64_t i = 0; i < rows.size(); ++i) {
        ASSERT_LE(rows.row_tokens(i), static_cast<std::int64_t>(max_length));
        ASSERT_GT(rows.row_tokens(i), 0);
        for (const Piece& piece : rows.row(i)) {
          for (std::uint32_t at = piece.begin; at < piece.end; ++at) {
            ++found[static_cast<std::size_t>(piece.document)][at];
          }
        }
      }
      ASSERT_EQ(found, expected);
    }
  }
}

TEST(PackedRows, LayoutIsTheSameEveryTime) {
  const Dataset dataset = dataset_of(texts({6, 3, 5, 4, 5, 7, 2, 2, 3}));
  EXPECT_EQ(lengths_of(make_rows(dataset, packed_to(10))), lengths_of(make_rows(dataset, packed_to(10))));
}

}  // namespace
}  // namespace athanor::data
