#include "core/formats/indexed_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/error.h"
#include "tests/support/temporary_folder.h"

namespace athanor::formats {
namespace {

using athanor::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The example of docs/formats/indexed_tokens.md.
std::string example_index() {
  using namespace std::string_literals;
  return "MMIDIDX\0\0"s + "\x01\0\0\0\0\0\0\0"s + "\x08"s + "\x01\0\0\0\0\0\0\0"s + "\x02\0\0\0\0\0\0\0"s +
         "\x03\0\0\0"s + "\0\0\0\0\0\0\0\0"s + "\0\0\0\0\0\0\0\0"s + "\x01\0\0\0\0\0\0\0"s;
}
std::string example_data() {
  using namespace std::string_literals;
  return "\x05\0\x06\0\x07\0"s;
}

void write_pair(const std::string& prefix, TokenType type = TokenType::kInt32) {
  IndexedTokensWriter writer(prefix, type);
  writer.add_document(std::vector<std::int32_t>{1, 2, 3});
  writer.add_sequence(std::vector<std::int32_t>{4});
  writer.add_sequence(std::vector<std::int32_t>{});
  writer.end_document();
  writer.add_document(std::vector<std::int32_t>{100, 5});
  writer.commit();
}

std::string failure_of(const std::string& prefix) {
  try {
    const IndexedTokens tokens = IndexedTokens::open(prefix);
    for (std::int64_t i = 0; i < tokens.num_sequences(); ++i) tokens.sequence(i);
  } catch (const base::UserError& error) {
    EXPECT_FALSE(error.problems().front().where.empty());
    EXPECT_FALSE(error.problems().front().remedy.empty());
    return error.what();
  }
  return "";
}

TEST(IndexedTokens, TheDocumentedBytesAreWhatIsWrittenAndRead) {
  const TemporaryFolder folder;
  IndexedTokensWriter writer(folder.file("a"), TokenType::kUint16);
  writer.add_document(std::vector<std::int32_t>{5, 6, 7});
  writer.commit();
  EXPECT_EQ(base::read_file(folder.file("a.idx")), example_index());
  EXPECT_EQ(base::read_file(folder.file("a.bin")), example_data());
  const IndexedTokens tokens = IndexedTokens::open(folder.file("a"));
  EXPECT_THAT(tokens.sequence(0), ElementsAre(5, 6, 7));
  EXPECT_EQ(tokens.num_tokens(), 3);
}

// tests/fixtures/indexed_tokens/README.md says how the pair was made.
TEST(IndexedTokens, APairOfMegatronCoreReadsAndIsWrittenBitForBit) {
  const std::string fixture = std::string(ATHANOR_SOURCE_DIR) + "/tests/fixtures/indexed_tokens/megatron";
  const IndexedTokens tokens = IndexedTokens::open(fixture);
  EXPECT_EQ(tokens.num_documents(), 2);
  EXPECT_THAT(tokens.sequence(0), ElementsAre(1, 2, 3));
  EXPECT_THAT(tokens.sequence(2), ElementsAre(5, 6));
  const TemporaryFolder folder;
  IndexedTokensWriter writer(folder.file("a"), TokenType::kUint16);
  writer.add_document(tokens.sequence(0));
  writer.add_sequence(tokens.sequence(1));
  writer.add_sequence(tokens.sequence(2));
  writer.commit();
  EXPECT_EQ(base::read_file(folder.file("a.idx")), base::read_file(fixture + ".idx"));
  EXPECT_EQ(base::read_file(folder.file("a.bin")), base::read_file(fixture + ".bin"));
}

TEST(IndexedTokens, EveryTypeReadsBack) {
  const TemporaryFolder folder;
  for (const TokenType type : {TokenType::kUint8, TokenType::kInt8, TokenType::kInt16, TokenType::kInt32,
                               TokenType::kInt64, TokenType::kUint16}) {
    write_pair(folder.file("a"), type);
    const IndexedTokens tokens = IndexedTokens::open(folder.file("a"));
    EXPECT_EQ(tokens.type(), type);
    EXPECT_EQ(tokens.num_sequences(), 4);
    EXPECT_EQ(tokens.num_documents(), 3);
    EXPECT_THAT(tokens.sequence(0), ElementsAre(1, 2, 3));
    EXPECT_THAT(tokens.sequence(2), ElementsAre());
    EXPECT_THAT(tokens.sequence(3), ElementsAre(100, 5));
    EXPECT_EQ(tokens.document_sequences(1), std::make_pair(std::int64_t{1}, std::int64_t{3}));
    std::vector<std::int32_t> part(2);
    tokens.read(0, 1, part);
    EXPECT_THAT(part, ElementsAre(2, 3));
  }
}

TEST(IndexedTokens, TheSmallestTypeFollowsTheVocabulary) {
  EXPECT_EQ(smallest_token_type(65499), TokenType::kUint16);
  EXPECT_EQ(smallest_token_type(65500), TokenType::kInt32);
}

TEST(IndexedTokens, AnyOfTheThreeNamesLeadsToThePair) {
  EXPECT_EQ(indexed_tokens_prefix("d/a.bin"), "d/a");
  EXPECT_EQ(indexed_tokens_prefix("d/a.idx"), "d/a");
  EXPECT_EQ(indexed_tokens_prefix("d/a.v1"), "d/a.v1");
}

TEST(IndexedTokens, AMissingHalfIsNamed) {
  const TemporaryFolder folder;
  write_pair(folder.file("a"));
  std::filesystem::remove(folder.file("a.idx"));
  EXPECT_THAT(failure_of(folder.file("a")), HasSubstr("a.idx is missing"));
  write_pair(folder.file("b"));
  std::filesystem::remove(folder.file("b.bin"));
  EXPECT_THAT(failure_of(folder.file("b")), HasSubstr("b.bin is missing"));
}

TEST(IndexedTokens, EveryTruncationOfEitherFileIsRefused) {
  const TemporaryFolder folder;
  write_pair(folder.file("a"));
  const std::string index = base::read_file(folder.file("a.idx"));
  const std::string data = base::read_file(folder.file("a.bin"));
  for (std::size_t size = 0; size < index.size(); ++size) {
    folder.write("t.idx", index.substr(0, size));
    folder.write("t.bin", data);
    EXPECT_NE(failure_of(folder.file("t")), "") << "the index cut to " << size;
  }
  for (std::size_t size = 0; size < data.size(); ++size) {
    folder.write("t.idx", index);
    folder.write("t.bin", data.substr(0, size));
    EXPECT_THAT(failure_of(folder.file("t")), HasSubstr("t.bin, byte"));
  }
}

TEST(IndexedTokens, EveryFlippedByteOfTheIndexIsNoticed) {
  const TemporaryFolder folder;
  write_pair(folder.file("a"));
  const std::string index = base::read_file(folder.file("a.idx"));
  folder.write("t.bin", base::read_file(folder.file("a.bin")));
  for (std::size_t i = 0; i < index.size(); ++i) {
    std::string flipped = index;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x81);
    folder.write("t.idx", flipped);
    EXPECT_NE(failure_of(folder.file("t")), "") << "byte " << i;
  }
}

struct Damage {
  const char* name;
  std::size_t offset;
  char value;
  const char* message;
};

TEST(IndexedTokens, EachFieldHasItsMessage) {
  const Damage damages[] = {
      {"magic", 0, 'X', "does not begin with MMIDIDX"},
      {"version", 9, 2, "version 2"},
      {"float type", 17, 6, "type code 6"},
      {"unknown type", 17, 9, "type code 9"},
      {"more sequences", 18, 9, "torn"},
      {"fewer documents", 26, 1, "bytes follow the end"},
      {"length", 34, 4, "the .bin file has 6 bytes"},
      {"pointer", 38, 2, "begins at byte 2"},
      {"first document", 46, 1, "first document"},
      {"last document", 54, 0, "the documents end at sequence 0 of 1"},
  };
  const TemporaryFolder folder;
  folder.write("t.bin", example_data());
  for (const Damage& damage : damages) {
    std::string index = example_index();
    index[damage.offset] = damage.value;
    folder.write("t.idx", index);
    EXPECT_THAT(failure_of(folder.file("t")), HasSubstr(damage.message)) << damage.name;
  }
}

TEST(IndexedTokens, ANegativeIdIsFoundWhereItIsRead) {
  const TemporaryFolder folder;
  write_pair(folder.file("a"));
  std::string data = base::read_file(folder.file("a.bin"));
  data[7] = '\xff';
  folder.write("a.bin", data);
  EXPECT_THAT(failure_of(folder.file("a")), HasSubstr("a.bin, byte 4"));
}

TEST(IndexedTokens, AnIdBeyondTheTypeIsRefused) {
  const TemporaryFolder folder;
  IndexedTokensWriter writer(folder.file("a"), TokenType::kUint16);
  EXPECT_THROW(writer.add_sequence(std::vector<std::int32_t>{65536}), base::UserError);
  EXPECT_THROW(writer.add_sequence(std::vector<std::int32_t>{-1}), base::UserError);
}

TEST(IndexedTokens, WithoutCommitThereIsNothing) {
  const TemporaryFolder folder;
  {
    IndexedTokensWriter writer(folder.file("a"), TokenType::kInt32);
    writer.add_document(std::vector<std::int32_t>{1});
  }
  EXPECT_FALSE(std::filesystem::exists(folder.file("a.bin")));
  EXPECT_FALSE(std::filesystem::exists(folder.file("a.idx")));
}

TEST(IndexedTokens, ANewBuildReplacesTheOldPair) {
  const TemporaryFolder folder;
  write_pair(folder.file("a"));
  IndexedTokensWriter writer(folder.file("a"), TokenType::kUint16);
  writer.add_document(std::vector<std::int32_t>{9});
  EXPECT_EQ(IndexedTokens::open(folder.file("a")).num_sequences(), 4);  // the old one until the commit
  writer.commit();
  EXPECT_THAT(IndexedTokens::open(folder.file("a")).sequence(0), ElementsAre(9));
}

TEST(IndexedTokens, NoDocumentsAtAllIsAPairToo) {
  const TemporaryFolder folder;
  IndexedTokensWriter(folder.file("a"), TokenType::kUint16).commit();
  EXPECT_EQ(IndexedTokens::open(folder.file("a")).num_documents(), 0);
}

}  // namespace
}  // namespace athanor::formats
