// TensorBoard event files: scalars and text that TensorBoard opens as they are written.
//
// Format:  docs/formats/tensorboard.md. Records are TFRecords (length, masked CRC-32C, payload, masked CRC-32C) of protobuf Event
//          messages; a torn last record is not an error to a reader.
// Units:   steps are whole numbers on the x axis; scalars are stored as fp32 (the format's limit).
// Durable: every flush() survives process death. Threads: externally synchronised.
// Fails:   UserError when the folder cannot be written; EnvironmentError when the disk is full.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/file.h"

namespace athanor::formats {

struct EventFileName {
  double unix_seconds = 0;
  std::string host;
  int process_id = 0;
  int serial = 0;  // counts the files of one process
};
// events.out.tfevents.<seconds>.<host>.<pid>.<serial>
std::string event_file_name(const EventFileName& name);

class EventWriter {
 public:
  // Creates folder/<name> and writes the version record. `resumed_step`: a restart begins at this step, so points of earlier
  // files at or after it are superseded (SessionLog START).
  EventWriter(const std::string& folder, const EventFileName& name, std::optional<std::int64_t> resumed_step);

  void scalars(std::int64_t step, double unix_seconds, const std::vector<std::pair<std::string, double>>& values);
  // Markdown text under `tag`.
  void text(const std::string& tag, std::string_view markdown, std::int64_t step, double unix_seconds);
  void flush();
  void close();
  const std::string& path() const { return path_; }

 private:
  void append(const std::string& event);

  std::string path_;
  base::AppendFile file_;
  std::string pending_;
};

// One scalar as read back (tests, imports).
struct ScalarPoint {
  std::string tag;
  std::int64_t step = 0;
  double unix_seconds = 0;
  float value = 0;
};

enum class EventFileEnd { kClean, kTorn, kCorrupt };

struct EventFileContent {
  std::vector<ScalarPoint> scalars;
  EventFileEnd end = EventFileEnd::kClean;
  std::uint64_t valid_bytes = 0;  // length of the whole records
};

// Reads simple_value scalars; other records are skipped. Never throws on torn or corrupt bytes.
EventFileContent read_event_file(std::string_view bytes);

}  // namespace athanor::formats
