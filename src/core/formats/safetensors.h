// One safetensors file, read through a memory map.
//
// Format:  u64 little-endian N; N bytes of JSON, "name": {"dtype", "shape", "data_offsets": [begin, end]} with offsets counted
//          from the byte behind the header, "__metadata__": text to text; then the tensors, row-major, little-endian.
// Checks:  before any tensor is handed out: N within 100 MB and the file, a header that starts with {, no name twice, tensors
//          that tile the data without hole or overlap, each as large as shape x type says, no byte behind the last.
//          What the reference reader takes and this one refuses: space before the {, and a name twice (it keeps the last).
// Owns:    the map. A tensor's bytes live as long as the file object. Threads: immutable.
// Fails:   UserError with path and byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/file.h"
#include "core/formats/dtype.h"

namespace athanor::formats {

struct TensorInfo {
  std::string name;
  Dtype dtype = Dtype::kFloat32;
  std::vector<std::int64_t> shape;  // row-major; empty: a scalar
  std::uint64_t begin = 0;          // bytes, counted from the start of the data
  std::uint64_t end = 0;

  std::int64_t num_elements() const;
  std::uint64_t num_bytes() const { return end - begin; }
};

// "[4096, 11008]".
std::string format_shape(std::span<const std::int64_t> shape);

using StringMap = std::map<std::string, std::string>;

struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;  // in the order of the data
  StringMap metadata;
  std::uint64_t data_offset = 0;  // of the first tensor's first byte in the file
};

// Reads and checks the header of a whole file's bytes. `path` is for messages. Fails: UserError.
SafetensorsHeader parse_safetensors(std::span<const std::byte> file, const std::string& path);

class SafetensorsFile {
 public:
  // Fails: UserError when the file is missing or is not a whole safetensors file.
  explicit SafetensorsFile(const std::string& path);

  const std::string& path() const { return path_; }
  const std::vector<TensorInfo>& tensors() const { return header_.tensors; }
  const StringMap& metadata() const { return header_.metadata; }
  // nullptr when there is none of this name.
  const TensorInfo* find(std::string_view name) const;
  // `tensor` must be one of this file's. Not aligned for every element type.
  std::span<const std::byte> bytes(const TensorInfo& tensor) const;
  // "path, byte 1234 (model.norm.weight)": where a tensor starts, for messages.
  std::string place(const TensorInfo& tensor) const;
  // Tells the kernel that the pages are not needed any more.
  void drop_pages() const { map_.drop_pages(); }

 private:
  std::string path_;
  base::MappedFile map_;
  SafetensorsHeader header_;
  std::unordered_map<std::string_view, std::size_t> by_name_;  // views into header_.tensors
};

}  // namespace athanor::formats
