#include "core/base/file.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/base/error.h"
#include "tests/support/temporary_folder.h"

namespace athanor::base {
namespace {

using testing::TemporaryFolder;

TEST(File, WriteWholeReplacesTheContentAndLeavesNoTemporary) {
  TemporaryFolder folder;
  const std::string path = folder.file("a");
  write_whole(path, "old");
  write_whole(path, "new");
  EXPECT_EQ(read_file(path), "new");
  EXPECT_FALSE(std::filesystem::exists(path + std::string(kTemporarySuffix)));
}

TEST(File, MissingFileIsTheUsersAndNamesThePath) {
  try {
    read_file("/nonexistent/x.json");
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::kUser);
    EXPECT_EQ(error.problems().at(0).where, "/nonexistent/x.json");
    EXPECT_FALSE(error.problems().at(0).remedy.empty());
  }
}

TEST(File, FolderInPlaceOfFileIsRefused) {
  TemporaryFolder folder;
  EXPECT_THROW(read_file(folder.path()), UserError);
  EXPECT_THROW(MappedFile{folder.path()}, UserError);
  EXPECT_THROW(write_whole(folder.path() + "/no/such/folder/x", "y"), UserError);
}

TEST(File, FullDeviceIsTheEnvironments) {
  // /dev/full answers every write with "no space left on device".
  FileWriter writer("/dev/full");
  writer.write("x");
  try {
    writer.close();
    FAIL() << "no error";
  } catch (const EnvironmentError& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::kEnvironment);
    EXPECT_EQ(error.error_number(), ENOSPC);
  }
}

TEST(File, WriterKeepsOrderAcrossSmallAndLargeWrites) {
  TemporaryFolder folder;
  std::string expected;
  FileWriter writer(folder.file("a"));
  for (const std::size_t size :
       {std::size_t{3}, std::size_t{1} << 21, std::size_t{0}, std::size_t{1000}, (std::size_t{1} << 20) + 1}) {
    const std::string piece(size, static_cast<char>('a' + size % 26));
    writer.write(piece);
    expected += piece;
  }
  EXPECT_EQ(writer.num_bytes_written(), expected.size());
  writer.close();
  EXPECT_EQ(read_file(folder.file("a")), expected);
}

TEST(File, AppendsAddToWhatIsThere) {
  TemporaryFolder folder;
  {
    AppendFile file(folder.file("a"));
    file.append_framed("one");
  }
  AppendFile file(folder.file("a"));
  file.append_framed("two");
  file.sync();
  file.close();
  EXPECT_EQ(read_file(folder.file("a")), "onetwo");
}

TEST(File, MappedFileSeesTheBytesAndAnEmptyFileIsEmpty) {
  TemporaryFolder folder;
  MappedFile mapped(folder.write("a", "hello"));
  EXPECT_EQ(mapped.text(), "hello");
  MappedFile moved(std::move(mapped));
  EXPECT_EQ(moved.text(), "hello");
  EXPECT_EQ(MappedFile(folder.write("empty", "")).size(), 0u);
}

TEST(File, LockIsExclusiveUntilReleased) {
  TemporaryFolder folder;
  {
    const FileLock first = FileLock::try_lock(folder.file("lock"));
    EXPECT_TRUE(first.held());
    EXPECT_FALSE(FileLock::try_lock(folder.file("lock")).held());
  }
  EXPECT_TRUE(FileLock::try_lock(folder.file("lock")).held());
}

TEST(File, GlobGivesSortedMatchesAndLiteralNamesWin) {
  TemporaryFolder folder;
  folder.write("b.txt", "");
  folder.write("a.txt", "");
  folder.write("x[1].txt", "");
  EXPECT_EQ(expand_glob(folder.file("?.txt")), (std::vector{folder.file("a.txt"), folder.file("b.txt")}));
  EXPECT_EQ(expand_glob(folder.file("x[1].txt")), std::vector{folder.file("x[1].txt")});
  EXPECT_TRUE(expand_glob(folder.file("none*")).empty());
}

TEST(File, FreeBytesLooksAtTheNearestExistingParent) {
  TemporaryFolder folder;
  EXPECT_GT(free_bytes(folder.file("not/yet/made")), 0u);
}

TEST(File, MakingAFolderThroughAFileIsRefused) {
  TemporaryFolder folder;
  folder.write("a", "");
  EXPECT_THROW(make_folders(folder.file("a/b")), UserError);
}

}  // namespace
}  // namespace athanor::base
