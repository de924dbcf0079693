#include "core/data/text_documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace athanor::data {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

using Documents = std::vector<std::pair<std::string, std::uint32_t>>;

Documents documents_of(std::string_view text, std::string_view separator, std::uint32_t first_line = 1) {
  Documents documents;
  for_each_document(text, separator, first_line, [&](std::string_view document, std::uint32_t line) {
    documents.emplace_back(std::string(document), line);
  });
  return documents;
}

TEST(TextDocuments, WithoutSeparatorTheTextIsOneDocumentAsItIs) {
  EXPECT_THAT(documents_of("a\n\nb\n", ""), ElementsAre(Pair("a\n\nb\n", 1)));
  EXPECT_THAT(documents_of("", ""), IsEmpty());
}

TEST(TextDocuments, BlankLinesSeparateHoweverMany) {
  EXPECT_THAT(documents_of("a\nb\n\nc\n \t\n\n\nd", "blank_line"),
              ElementsAre(Pair("a\nb", 1), Pair("c", 4), Pair("d", 8)));
}

TEST(TextDocuments, BlankLinesAtTheEdgesMakeNoDocument) {
  EXPECT_THAT(documents_of("\n\na\n\n\n", "blank_line"), ElementsAre(Pair("a", 3)));
  EXPECT_THAT(documents_of("\n \n", "blank_line"), IsEmpty());
}

TEST(TextDocuments, SeparatorLineIsNoPartOfADocumentButBlankLinesAre) {
  EXPECT_THAT(documents_of("a\n\nb\n<|endoftext|>\nc\n", "<|endoftext|>"),
              ElementsAre(Pair("a\n\nb", 1), Pair("c", 5)));
}

TEST(TextDocuments, SpacesAfterASeparatorDoNotCountAndTextDoes) {
  EXPECT_THAT(documents_of("a\n% \t\nb\n%c\nd", "%"), ElementsAre(Pair("a", 1), Pair("b\n%c\nd", 3)));
}

TEST(TextDocuments, LineBreaksOfWindowsAreRead) {
  EXPECT_THAT(documents_of("a\r\nb\r\n%\r\nc\r\n", "%"), ElementsAre(Pair("a\r\nb", 1), Pair("c", 4)));
  EXPECT_THAT(documents_of("a\r\n\r\nc\r\n", "blank_line"), ElementsAre(Pair("a", 1), Pair("c", 3)));
}

TEST(TextDocuments, LinesAreCountedFromWhereTheTextBegins) {
  EXPECT_THAT(documents_of("a\n%\nb", "%", 101), ElementsAre(Pair("a", 101), Pair("b", 103)));
}

// A file is cut into pieces at borders and the pieces are read one by one: the documents are those of the file, wherever it is cut.
TEST(TextDocuments, AreTheSameWhereverTheTextIsCut) {
  const std::string text = "a\nb\n%\n\n%\nc % d\n%\r\n%e\n%";
  const Documents whole = documents_of(text, "%");
  ASSERT_EQ(whole.size(), 3U);
  for (std::size_t from = 0; from <= text.size(); ++from) {
    const std::size_t border = next_document_border(text, from, "%");
    ASSERT_GE(border, from);
    Documents both = documents_of(text.substr(0, border), "%");
    const auto lines =
        static_cast<std::uint32_t>(std::count(text.begin(), text.begin() + static_cast<long>(border), '\n'));
    const Documents rest = documents_of(text.substr(border), "%", lines + 1);
    both.insert(both.end(), rest.begin(), rest.end());
    EXPECT_EQ(both, whole) << "cut from byte " << from;
  }
}

TEST(NextDocumentBorder, LineThatIsBegunIsNoSeparator) {
  EXPECT_EQ(next_document_border("a%\n%\nb", 1, "%"), 5U);
  EXPECT_EQ(next_document_border("%\nb", 0, "%"), 2U);
}

TEST(NextDocumentBorder, IsTheEndWhereNoneFollows) { EXPECT_EQ(next_document_border("a\nb\n", 1, "%"), 4U); }

}  // namespace
}  // namespace athanor::data
