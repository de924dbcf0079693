// Element types of tensors in files, by the names that safetensors gives them.
//
// Threads: pure functions.
#pragma once

#include <optional>
#include <string_view>

namespace athanor::formats {

// In the order that safetensors' writer sorts by (it writes the last first); all types it knows are here so that a file can be
// checked and a type that a model cannot use can be named.
enum class Dtype {
  kBool,
  kFloat4,
  kFloat6E2M3,
  kFloat6E3M2,
  kUint8,
  kInt8,
  kFloat8E5M2,
  kFloat8E4M3,
  kFloat8E8M0,
  kFloat8E4M3Fnuz,
  kFloat8E5M2Fnuz,
  kInt16,
  kUint16,
  kFloat16,
  kBfloat16,
  kInt32,
  kUint32,
  kFloat32,
  kComplex64,
  kFloat64,
  kInt64,
  kUint64,
};

// "BF16"; what stands in a safetensors header.
const char* dtype_name(Dtype dtype);
std::optional<Dtype> find_dtype(std::string_view name);
// Bits of one element: 4, 6, 8, 16, 32 or 64.
int dtype_bits(Dtype dtype);

// "bfloat16"; what stands in config.json. Only for the types weights may have here: float32, bfloat16, float16.
const char* torch_dtype_name(Dtype dtype);
std::optional<Dtype> find_torch_dtype(std::string_view name);
bool is_weight_dtype(Dtype dtype);

}  // namespace athanor::formats
