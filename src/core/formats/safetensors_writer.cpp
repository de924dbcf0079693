#include "core/formats/safetensors_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "core/base/json.h"

namespace athanor::formats {
namespace {

constexpr std::size_t kHeaderAlignment = 8;

std::string header_json(const std::vector<TensorInfo>& tensors, const StringMap& metadata) {
  std::string json = "{";
  const auto begin_member = [&json](std::string_view key) {
    if (json.back() != '{') json += ',';
    base::append_json_string(json, key);
    json += ':';
  };
  if (!metadata.empty()) {
    begin_member("__metadata__");
    json += '{';
    for (const auto& [key, value] : metadata) {
      begin_member(key);
      base::append_json_string(json, value);
    }
    json += '}';
  }
  for (const TensorInfo& tensor : tensors) {
    begin_member(tensor.name);
    fmt::format_to(std::back_inserter(json), R"({{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                   dtype_name(tensor.dtype), fmt::join(tensor.shape, ","), tensor.begin, tensor.end);
  }
  json += '}';
  json.append((kHeaderAlignment - json.size() % kHeaderAlignment) % kHeaderAlignment, ' ');
  return json;
}

}  // namespace

const StringMap& torch_metadata() {
  static const StringMap metadata = {{"format", "pt"}};
  return metadata;
}

std::uint64_t TensorPlan::num_bytes() const {
  std::uint64_t bits = static_cast<std::uint64_t>(dtype_bits(dtype));
  for (const std::int64_t extent : shape) bits *= static_cast<std::uint64_t>(extent);
  return bits / 8;
}

SafetensorsLayout plan_safetensors(const std::vector<TensorPlan>& tensors, const StringMap& metadata) {
  SafetensorsLayout layout;
  for (const TensorPlan& plan : tensors) layout.tensors.push_back({plan.name, plan.dtype, plan.shape, 0, 0});
  std::sort(layout.tensors.begin(), layout.tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
    return a.dtype != b.dtype ? a.dtype > b.dtype : a.name < b.name;
  });
  std::unordered_set<std::string_view> names;
  for (TensorInfo& tensor : layout.tensors) {
    ATHANOR_CHECK(names.insert(tensor.name).second, tensor.name + " is written twice");
    tensor.begin = layout.num_data_bytes;
    layout.num_data_bytes += TensorPlan{tensor.name, tensor.dtype, tensor.shape}.num_bytes();
    tensor.end = layout.num_data_bytes;
  }
  const std::string json = header_json(layout.tensors, metadata);
  for (int shift = 0; shift < 64; shift += 8) layout.header += static_cast<char>(json.size() >> shift);
  layout.header += json;
  return layout;
}

SafetensorsWriter::SafetensorsWriter(const std::string& path, const std::vector<TensorPlan>& tensors,
                                     const StringMap& metadata)
    : layout_(plan_safetensors(tensors, metadata)), file_(path) {
  append(layout_.header.data(), layout_.header.size());
}

void SafetensorsWriter::write(std::span<const std::byte> bytes) { append(bytes.data(), bytes.size()); }

WrittenFile SafetensorsWriter::finish() {
  ATHANOR_CHECK(
      file_.num_bytes_written() == layout_.num_file_bytes(),
      fmt::format("{} bytes were written, {} were planned", file_.num_bytes_written(), layout_.num_file_bytes()));
  file_.sync();
  file_.close();
  return {layout_.num_file_bytes(), crc32c_};
}

void SafetensorsWriter::append(const void* data, std::size_t num_bytes) {
  file_.write(data, num_bytes);
  crc32c_ = base::crc32c(crc32c_, data, num_bytes);
}

}  // namespace athanor::formats
