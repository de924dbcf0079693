#include "core/formats/tensorboard_events.h"

#include <fmt/format.h>

#include <cstring>

#include "core/base/crc32c.h"
#include "core/formats/protobuf_wire.h"

namespace athanor::formats {

namespace {

// Field numbers of event.proto, summary.proto and tensor.proto.
namespace event_field {
constexpr int kWallTime = 1;
constexpr int kStep = 2;
constexpr int kFileVersion = 3;
constexpr int kSummary = 5;
constexpr int kSessionLog = 7;
}  // namespace event_field
constexpr int kSessionStatus = 1;
constexpr int kSessionStart = 1;
constexpr int kSummaryValue = 1;
constexpr int kValueTag = 1;
constexpr int kValueSimple = 2;
constexpr int kValueTensor = 8;
constexpr int kValueMetadata = 9;
constexpr int kMetadataPlugin = 1;
constexpr int kPluginName = 1;
constexpr int kTensorType = 1;
constexpr int kTensorTypeString = 7;
constexpr int kTensorShape = 2;
constexpr int kShapeDim = 2;
constexpr int kDimSize = 1;
constexpr int kTensorStringValue = 8;

constexpr std::size_t kHeaderBytes = 12;  // length and its CRC
constexpr std::size_t kFooterBytes = 4;

std::string begin_event(double unix_seconds, std::int64_t step) {
  std::string event;
  wire::put_fixed(event, event_field::kWallTime, unix_seconds);
  if (step != 0) wire::put_integer(event, event_field::kStep, step);
  return event;
}

std::uint32_t masked(const void* data, std::size_t num_bytes) {
  return base::mask_crc32c(base::crc32c(0, data, num_bytes));
}

template <typename T>
void put_raw(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T>
T get_raw(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::string make_folder_and_path(const std::string& folder, const EventFileName& name) {
  base::make_folders(folder);
  return folder + "/" + event_file_name(name);
}

}  // namespace

std::string event_file_name(const EventFileName& name) {
  return fmt::format("events.out.tfevents.{:010}.{}.{}.{}", static_cast<long long>(name.unix_seconds), name.host,
                     name.process_id, name.serial);
}

EventWriter::EventWriter(const std::string& folder, const EventFileName& name, std::optional<std::int64_t> resumed_step)
    : path_(make_folder_and_path(folder, name)), file_(path_) {
  std::string version = begin_event(name.unix_seconds, 0);
  wire::put_bytes(version, event_field::kFileVersion, "brain.Event:2");
  append(version);
  if (resumed_step.has_value()) {
    std::string session;
    wire::put_integer(session, kSessionStatus, kSessionStart);
    std::string event = begin_event(name.unix_seconds, *resumed_step);
    wire::put_bytes(event, event_field::kSessionLog, session);
    append(event);
  }
  flush();
}

void EventWriter::scalars(std::int64_t step, double unix_seconds,
                          const std::vector<std::pair<std::string, double>>& values) {
  std::string summary;
  for (const auto& [tag, value] : values) {
    std::string entry;
    wire::put_bytes(entry, kValueTag, tag);
    wire::put_fixed(entry, kValueSimple, static_cast<float>(value));
    wire::put_bytes(summary, kSummaryValue, entry);
  }
  std::string event = begin_event(unix_seconds, step);
  wire::put_bytes(event, event_field::kSummary, summary);
  append(event);
}

void EventWriter::text(const std::string& tag, std::string_view markdown, std::int64_t step, double unix_seconds) {
  std::string dim, shape, tensor, plugin, metadata, entry, summary;
  wire::put_integer(dim, kDimSize, 1);
  wire::put_bytes(shape, kShapeDim, dim);
  wire::put_integer(tensor, kTensorType, kTensorTypeString);
  wire::put_bytes(tensor, kTensorShape, shape);
  wire::put_bytes(tensor, kTensorStringValue, markdown);
  wire::put_bytes(plugin, kPluginName, "text");
  wire::put_bytes(metadata, kMetadataPlugin, plugin);
  wire::put_bytes(entry, kValueTag, tag + "/text_summary");
  wire::put_bytes(entry, kValueTensor, tensor);
  wire::put_bytes(entry, kValueMetadata, metadata);
  wire::put_bytes(summary, kSummaryValue, entry);
  std::string event = begin_event(unix_seconds, step);
  wire::put_bytes(event, event_field::kSummary, summary);
  append(event);
}

void EventWriter::append(const std::string& event) {
  const std::uint64_t length = event.size();
  put_raw(pending_, length);
  put_raw(pending_, masked(&length, sizeof length));
  pending_ += event;
  put_raw(pending_, masked(event.data(), event.size()));
}

void EventWriter::flush() {
  if (pending_.empty()) return;
  file_.append_framed(pending_);
  pending_.clear();
}

void EventWriter::close() {
  flush();
  file_.close();
}

namespace {

void read_summary(std::string_view summary, std::int64_t step, double unix_seconds, std::vector<ScalarPoint>& out) {
  wire::FieldReader values(summary);
  while (values.next()) {
    if (values.number != kSummaryValue || values.type != 2) continue;
    wire::FieldReader entry(values.bytes);
    ScalarPoint point{"", step, unix_seconds, 0};
    bool has_value = false;
    while (entry.next()) {
      if (entry.number == kValueTag && entry.type == 2) point.tag = std::string(entry.bytes);
      if (entry.number == kValueSimple && entry.type == 5) {
        point.value = entry.fixed<float>();
        has_value = true;
      }
    }
    if (has_value) out.push_back(std::move(point));
  }
}

void read_event(std::string_view event, std::vector<ScalarPoint>& out) {
  wire::FieldReader fields(event);
  double unix_seconds = 0;
  std::int64_t step = 0;
  std::string_view summary;
  while (fields.next()) {
    if (fields.number == event_field::kWallTime && fields.type == 1) unix_seconds = fields.fixed<double>();
    if (fields.number == event_field::kStep && fields.type == 0) step = static_cast<std::int64_t>(fields.integer);
    if (fields.number == event_field::kSummary && fields.type == 2) summary = fields.bytes;
  }
  read_summary(summary, step, unix_seconds, out);
}

}  // namespace

EventFileContent read_event_file(std::string_view bytes) {
  EventFileContent content;
  std::size_t at = 0;
  while (at < bytes.size()) {
    if (bytes.size() - at < kHeaderBytes) {
      content.end = EventFileEnd::kTorn;
      break;
    }
    const auto length = get_raw<std::uint64_t>(bytes, at);
    if (masked(bytes.data() + at, sizeof length) != get_raw<std::uint32_t>(bytes, at + sizeof length)) {
      content.end = EventFileEnd::kCorrupt;
      break;
    }
    const std::size_t left = bytes.size() - at - kHeaderBytes;
    if (length > left || left - length < kFooterBytes) {
      content.end = EventFileEnd::kTorn;
      break;
    }
    const std::string_view event = bytes.substr(at + kHeaderBytes, length);
    if (masked(event.data(), event.size()) != get_raw<std::uint32_t>(bytes, at + kHeaderBytes + length)) {
      content.end = EventFileEnd::kCorrupt;
      break;
    }
    read_event(event, content.scalars);
    at += kHeaderBytes + length + kFooterBytes;
  }
  content.valid_bytes = at;
  return content;
}

}  // namespace athanor::formats
