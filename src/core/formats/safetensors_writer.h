// Writes one safetensors file front to back, the header first, without holding a tensor.
//
// Format:  safetensors.h. The bytes are those that Python's safetensors writes for the same tensors and metadata: tensors by
//          descending element type, then by name; compact JSON; the header padded with spaces to a multiple of 8.
// Durable: finish() syncs the file; renaming it, or its folder, into place is the caller's.
// Owns:    the file. Threads: externally synchronised.
// Fails:   EnvironmentError on a full disk. Dropped without finish() it leaves a torn file that no reader takes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/formats/safetensors.h"

namespace athanor::formats {

struct TensorPlan {
  std::string name;
  Dtype dtype = Dtype::kFloat32;
  std::vector<std::int64_t> shape;

  std::uint64_t num_bytes() const;
};

// {"format": "pt"}, which transformers' loaders ask for.
const StringMap& torch_metadata();

// The header's bytes, length and padding included, and the tensors in the order of the data. Fails: ATHANOR_CHECK when a name
// occurs twice.
struct SafetensorsLayout {
  std::vector<TensorInfo> tensors;
  std::string header;
  std::uint64_t num_data_bytes = 0;
  std::uint64_t num_file_bytes() const { return header.size() + num_data_bytes; }
};
SafetensorsLayout plan_safetensors(const std::vector<TensorPlan>& tensors,
                                   const StringMap& metadata = torch_metadata());

// A finished file, for a manifest.
struct WrittenFile {
  std::uint64_t num_bytes = 0;
  std::uint32_t crc32c = 0;  // of the whole file
};

class SafetensorsWriter {
 public:
  // Creates the file and writes the header.
  SafetensorsWriter(const std::string& path, const std::vector<TensorPlan>& tensors,
                    const StringMap& metadata = torch_metadata());

  // The order in which the bytes must come.
  const std::vector<TensorInfo>& tensors() const { return layout_.tensors; }
  // The next bytes of the data, in pieces of any size: all of tensors()[0], then all of tensors()[1], and so on.
  void write(std::span<const std::byte> bytes);
  // Syncs and closes. Fails: ATHANOR_CHECK when bytes are missing or too many.
  WrittenFile finish();

 private:
  void append(const void* data, std::size_t num_bytes);

  SafetensorsLayout layout_;
  base::FileWriter file_;
  std::uint32_t crc32c_ = 0;
};

}  // namespace athanor::formats
