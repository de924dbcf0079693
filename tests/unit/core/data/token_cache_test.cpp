#include "core/data/token_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/error.h"
#include "core/base/fault_point.h"
#include "tests/unit/core/data/data_case.h"

namespace athanor::data {
namespace {

using ::testing::ElementsAre;

// Two documents, as the example of docs/formats/token_cache.md has them.
ChunkBuilder two_documents() {
  ChunkBuilder builder;
  Document first = document_of(DocumentKind::kConversation, 5, 3, 1);
  Document second = document_of(DocumentKind::kText, 9, 2);
  builder.add(first, 1);
  builder.add(second, 4);
  return builder;
}

// In place: a file that is emptied first is written to the disk at once by some file systems.
void put_byte(const std::string& path, std::size_t at, char byte) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(at)).put(byte);
}

CacheIndex::Chunk write_chunk(const testing::TemporaryFolder& folder, const ChunkBuilder& builder,
                              const std::string& name = "chunk") {
  CacheIndex::Chunk entry{name, 0, builder.write(folder.file(name)), 0};
  entry.num_bytes = std::filesystem::file_size(folder.file(name));
  return entry;
}

TEST(TokenChunk, GivesBackWhatWasWritten) {
  const testing::TemporaryFolder folder;
  CacheIndex::Chunk entry = write_chunk(folder, two_documents());
  entry.file = 3;
  const TokenChunk chunk = TokenChunk::open(folder.file("chunk"), entry).value();
  ASSERT_EQ(chunk.num_documents(), 2);
  EXPECT_EQ(chunk.num_tokens(), 5);
  EXPECT_EQ(chunk.file(), 3U);
  EXPECT_THAT(chunk.tokens(chunk.document(0)), ElementsAre(5, 6, 7));
  EXPECT_THAT(chunk.labels(chunk.document(0)), ElementsAre(kNoTarget, 6, 7));
  EXPECT_EQ(chunk.document(0).kind, DocumentKind::kConversation);
  EXPECT_EQ(chunk.document(0).line, 1U);
  EXPECT_THAT(chunk.tokens(chunk.document(1)), ElementsAre(9, 10));
  EXPECT_EQ(chunk.document(1).line, 4U);
}

TEST(TokenChunk, WithoutDocumentsIsWholeToo) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(TokenChunk::open(folder.file("chunk"), write_chunk(folder, {})).value().num_documents(), 0);
}

// The layout is on disk: other builds read it.
TEST(TokenChunk, LayoutIsFrozen) {
  const testing::TemporaryFolder folder;
  write_chunk(folder, two_documents());
  const auto u32 = [](std::uint32_t value) { return std::string(reinterpret_cast<const char*>(&value), 4); };
  const auto u64 = [](std::uint64_t value) { return std::string(reinterpret_cast<const char*>(&value), 8); };
  std::string expected = std::string("ATHTOK\0\1", 8) + u64(2) + u64(5) + u64(0);
  expected += u64(0) + u32(3) + u32(1) + u32(1) + u32(0);
  expected += u64(3) + u32(2) + u32(4) + u32(0) + u32(0);
  for (const std::uint32_t id : {5, 6, 7, 9, 10}) expected += u32(id);
  for (const std::int32_t label : {-100, 6, 7, 9, 10}) expected += u32(static_cast<std::uint32_t>(label));
  EXPECT_EQ(base::read_file(folder.file("chunk")), expected);
  EXPECT_EQ(static_cast<int>(DocumentKind::kText), 0);
  EXPECT_EQ(static_cast<int>(DocumentKind::kConversation), 1);
  EXPECT_EQ(static_cast<int>(DocumentKind::kTokens), 2);
  EXPECT_EQ(static_cast<int>(DocumentKind::kFile), 3);
}

TEST(TokenChunk, CutAtAnyLengthIsNotOpened) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("chunk");
  const CacheIndex::Chunk entry = write_chunk(folder, two_documents());
  std::filesystem::resize_file(path, entry.num_bytes + 1);
  EXPECT_FALSE(TokenChunk::open(path, entry).has_value());
  for (std::size_t length = entry.num_bytes; length-- > 0;) {
    std::filesystem::resize_file(path, length);
    ASSERT_FALSE(TokenChunk::open(path, entry).has_value()) << length;
    ASSERT_FALSE(TokenChunk::open(path, entry, ChunkCheck::kTable).has_value()) << length;
  }
}

TEST(TokenChunk, ChangedInAnyByteIsNotOpened) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("chunk");
  const CacheIndex::Chunk entry = write_chunk(folder, two_documents());
  const std::string whole = base::read_file(path);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    put_byte(path, i, static_cast<char>(whole[i] ^ 0x41));
    ASSERT_FALSE(TokenChunk::open(path, entry).has_value()) << i;
    // By the table alone not all is found, but no document reaches beyond the file.
    const auto by_table = TokenChunk::open(path, entry, ChunkCheck::kTable);
    for (std::int64_t d = 0; by_table.has_value() && d < by_table->num_documents(); ++d) {
      ASSERT_LE(by_table->document(d).first_token + by_table->document(d).num_tokens, 5U) << i;
    }
    put_byte(path, i, whole[i]);
  }
  EXPECT_TRUE(TokenChunk::open(path, entry).has_value());
}

TEST(TokenChunk, OfAnotherCacheIsNotOpened) {
  const testing::TemporaryFolder folder;
  const CacheIndex::Chunk entry = write_chunk(folder, two_documents());
  ChunkBuilder other;
  other.add(document_of(DocumentKind::kConversation, 6, 3, 1), 1);
  other.add(document_of(DocumentKind::kText, 9, 2), 4);
  const CacheIndex::Chunk other_entry = write_chunk(folder, other, "other");
  ASSERT_EQ(other_entry.num_bytes, entry.num_bytes);
  EXPECT_TRUE(TokenChunk::open(folder.file("other"), other_entry).has_value());
  EXPECT_FALSE(TokenChunk::open(folder.file("other"), entry).has_value());
}

TEST(TokenChunk, ThatIsMissingOrAFolderIsNotOpened) {
  const testing::TemporaryFolder folder;
  EXPECT_FALSE(TokenChunk::open(folder.file("none"), {}).has_value());
  EXPECT_FALSE(TokenChunk::open(folder.path(), {}).has_value());
}

TEST(TokenChunk, FullDiskIsTheMachinesFault) {
  const testing::TemporaryFolder folder;
  base::arm_fault_points("cache_mid_write=enospc");
  EXPECT_THROW(two_documents().write(folder.file("chunk")), base::EnvironmentError);
  base::arm_fault_points("");
  // A device that is always full.
  EXPECT_THROW(two_documents().write("/dev/full"), base::EnvironmentError);
}

CacheIndex example_index() {
  CacheIndex index;
  index.chunks = {{"chunk-000000.tokens", 120, 0xe3069283U, 0}, {"chunk-000001.tokens", 32, 0, 1}};
  index.num_skipped_lines = 3;
  index.largest_id = 10;
  return index;
}

bool is_example(const CacheIndex& index) {
  const CacheIndex example = example_index();
  if (index.num_skipped_lines != example.num_skipped_lines || index.largest_id != example.largest_id) return false;
  return std::equal(index.chunks.begin(), index.chunks.end(), example.chunks.begin(), example.chunks.end(),
                    [](const CacheIndex::Chunk& a, const CacheIndex::Chunk& b) {
                      return a.name == b.name && a.num_bytes == b.num_bytes && a.crc32c == b.crc32c && a.file == b.file;
                    });
}

TEST(CacheIndex, GivesBackWhatWasWritten) {
  const testing::TemporaryFolder folder;
  write_cache_index(folder.path(), example_index());
  EXPECT_TRUE(is_example(read_cache_index(folder.path()).value()));
}

TEST(CacheIndex, ThatIsMissingIsNone) {
  const testing::TemporaryFolder folder;
  EXPECT_FALSE(read_cache_index(folder.path()).has_value());
  EXPECT_FALSE(read_cache_index(folder.file("none")).has_value());
}

TEST(CacheIndex, OfAnotherVersionIsNone) {
  const testing::TemporaryFolder folder;
  write_cache_index(folder.path(), example_index());
  std::string text = base::read_file(folder.file(kCacheIndexName));
  const std::size_t at = text.find("\"version\": 1");
  ASSERT_NE(at, std::string::npos);
  folder.write(kCacheIndexName, text.replace(at, 12, "\"version\": 2"));
  EXPECT_FALSE(read_cache_index(folder.path()).has_value());
}

// Changed in any byte, it is none, or (white space) still says the same; cut at any length it is none.
TEST(CacheIndex, TornOrChangedIsNeverReadWrong) {
  const testing::TemporaryFolder folder;
  write_cache_index(folder.path(), example_index());
  const std::string path = folder.file(kCacheIndexName);
  const std::string whole = base::read_file(path);
  int none = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int flip : {0x01, 0x10, 0x41}) {
      put_byte(path, i, static_cast<char>(whole[i] ^ flip));
      const std::optional<CacheIndex> index = read_cache_index(folder.path());
      ASSERT_TRUE(!index.has_value() || is_example(*index)) << base::read_file(path);
      none += index.has_value() ? 0 : 1;
    }
    put_byte(path, i, whole[i]);
  }
  EXPECT_GT(none, static_cast<int>(whole.size()));
  ASSERT_TRUE(read_cache_index(folder.path()).has_value());
  for (std::size_t length = whole.find_last_of('}') + 1; length-- > 0;) {
    std::filesystem::resize_file(path, length);
    ASSERT_FALSE(read_cache_index(folder.path()).has_value()) << length;
  }
}

// The example of docs/formats/token_cache.md.
TEST(CacheIndex, DocumentedExampleIsWhatIsWritten) {
  const testing::TemporaryFolder folder;
  ChunkBuilder builder;
  builder.add(document_of(DocumentKind::kText, 5, 2), 3);
  CacheIndex index;
  index.chunks = {write_chunk(folder, builder, "chunk-000000.tokens")};
  index.largest_id = builder.largest_id();
  write_cache_index(folder.path(), index);
  const std::string page = base::read_file(std::string(ATHANOR_SOURCE_DIR) + "/docs/formats/token_cache.md");
  const std::size_t begin = page.find("```json\n") + 8;
  std::string example = page.substr(begin, page.find("```", begin) - begin);
  while (example.ends_with('\n')) example.pop_back();
  std::string written = base::read_file(folder.file(kCacheIndexName));
  while (written.ends_with('\n')) written.pop_back();
  EXPECT_EQ(written, example);
  EXPECT_EQ(index.chunks[0].num_bytes, 72U);
}

}  // namespace
}  // namespace athanor::data
