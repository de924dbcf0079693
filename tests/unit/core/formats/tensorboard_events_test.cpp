#include "core/formats/tensorboard_events.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/temporary_folder.h"

namespace athanor::formats {
namespace {

const EventFileName kName{1700000000.25, "host", 12, 3};

std::string write_sample(const std::string& folder, std::optional<std::int64_t> resumed = std::nullopt) {
  EventWriter writer(folder, kName, resumed);
  writer.scalars(1, 1700000001.0, {{"train/loss", 2.5}, {"train/learning_rate", 1e-3}});
  writer.text("args", "**bold**", 0, 1700000001.5);
  writer.scalars(300, 1700000002.0, {{"train/loss", 1.25}});
  writer.close();
  return base::read_file(writer.path());
}

TEST(TensorBoardEvents, FileNameHoldsTimeHostProcessAndSerial) {
  EXPECT_EQ(event_file_name(kName), "events.out.tfevents.1700000000.host.12.3");
}

TEST(TensorBoardEvents, FirstRecordIsTheVersionBitForBit) {
  testing::TemporaryFolder folder;
  const std::string bytes = write_sample(folder.path());
  // Length 24; the masked CRC-32C of that length is 0x224b7fa3.
  const std::string head("\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22", 12);
  EXPECT_EQ(bytes.substr(0, 12), head);
  EXPECT_EQ(bytes.substr(12 + 9, 15),
            "\x1a\x0d"
            "brain.Event:2");
}

TEST(TensorBoardEvents, ScalarsReadBack) {
  testing::TemporaryFolder folder;
  const EventFileContent content = read_event_file(write_sample(folder.path()));
  EXPECT_EQ(content.end, EventFileEnd::kClean);
  ASSERT_EQ(content.scalars.size(), 3u);
  EXPECT_EQ(content.scalars[0].tag, "train/loss");
  EXPECT_EQ(content.scalars[0].step, 1);
  EXPECT_EQ(content.scalars[0].value, 2.5f);
  EXPECT_EQ(content.scalars[0].unix_seconds, 1700000001.0);
  EXPECT_EQ(content.scalars[2].step, 300);
}

TEST(TensorBoardEvents, FilesOfTorchsSummaryWriterAreRead) {
  const std::string path = ATHANOR_SOURCE_DIR "/tests/fixtures/tensorboard/reference.tfevents";
  const EventFileContent content = read_event_file(base::read_file(path));
  EXPECT_EQ(content.end, EventFileEnd::kClean);
  ASSERT_EQ(content.scalars.size(), 5u);
  EXPECT_EQ(content.scalars[1].tag, "train/loss");
  EXPECT_EQ(content.scalars[1].step, 2);
  EXPECT_EQ(content.scalars[1].value, 1.0f / 3.0f);
  EXPECT_EQ(content.scalars[1].unix_seconds, 1700000002.25);
  EXPECT_EQ(content.scalars[3].step, std::int64_t{1} << 40);
  EXPECT_TRUE(std::isinf(content.scalars[3].value));
  EXPECT_EQ(content.scalars[4].tag, "eval/loss");
  EXPECT_EQ(content.scalars[4].value, -1.25f);
}

TEST(TensorBoardEvents, EveryTruncationGivesATruePrefix) {
  testing::TemporaryFolder folder;
  const std::string bytes = write_sample(folder.path());
  const std::size_t whole = read_event_file(bytes).scalars.size();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const EventFileContent content = read_event_file(std::string_view(bytes).substr(0, length));
    EXPECT_LE(content.scalars.size(), whole);
    EXPECT_NE(content.end, EventFileEnd::kCorrupt) << length;
    EXPECT_LE(content.valid_bytes, length);
    for (const ScalarPoint& point : content.scalars) EXPECT_TRUE(point.step == 1 || point.step == 300);
  }
}

TEST(TensorBoardEvents, EveryFlippedByteIsNoticed) {
  testing::TemporaryFolder folder;
  const std::string bytes = write_sample(folder.path());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    EXPECT_NE(read_event_file(flipped).end, EventFileEnd::kClean) << at;
  }
}

TEST(TensorBoardEvents, RestartSaysFromWhichStep) {
  testing::TemporaryFolder first, second;
  const std::string plain = write_sample(first.path());
  const std::string resumed = write_sample(second.path(), 200);
  // One more record: SessionLog{status: START} at step 200.
  EXPECT_NE(resumed.find(std::string("\x10\xc8\x01\x3a\x02\x08\x01", 7)), std::string::npos);
  EXPECT_EQ(plain.find(std::string("\x3a\x02\x08\x01", 4)), std::string::npos);
}

TEST(TensorBoardEvents, FlushedPointsAreThereBeforeTheFileIsClosed) {
  testing::TemporaryFolder folder;
  EventWriter writer(folder.path(), kName, std::nullopt);
  writer.scalars(1, 1.0, {{"a", 1.0}});
  EXPECT_TRUE(read_event_file(base::read_file(writer.path())).scalars.empty());
  writer.flush();
  EXPECT_EQ(read_event_file(base::read_file(writer.path())).scalars.size(), 1u);
}

}  // namespace
}  // namespace athanor::formats
