#include "core/formats/dtype.h"

#include <array>

#include "core/base/error.h"

namespace athanor::formats {
namespace {

struct DtypeEntry {
  Dtype dtype;
  const char* name;
  int bits;
  const char* torch_name;  // nullptr: no weight may have it here
};

constexpr std::array<DtypeEntry, 22> kDtypes = {{
    {Dtype::kBool, "BOOL", 8, nullptr},
    {Dtype::kFloat4, "F4", 4, nullptr},
    {Dtype::kFloat6E2M3, "F6_E2M3", 6, nullptr},
    {Dtype::kFloat6E3M2, "F6_E3M2", 6, nullptr},
    {Dtype::kUint8, "U8", 8, nullptr},
    {Dtype::kInt8, "I8", 8, nullptr},
    {Dtype::kFloat8E5M2, "F8_E5M2", 8, nullptr},
    {Dtype::kFloat8E4M3, "F8_E4M3", 8, nullptr},
    {Dtype::kFloat8E8M0, "F8_E8M0", 8, nullptr},
    {Dtype::kFloat8E4M3Fnuz, "F8_E4M3FNUZ", 8, nullptr},
    {Dtype::kFloat8E5M2Fnuz, "F8_E5M2FNUZ", 8, nullptr},
    {Dtype::kInt16, "I16", 16, nullptr},
    {Dtype::kUint16, "U16", 16, nullptr},
    {Dtype::kFloat16, "F16", 16, "float16"},
    {Dtype::kBfloat16, "BF16", 16, "bfloat16"},
    {Dtype::kInt32, "I32", 32, nullptr},
    {Dtype::kUint32, "U32", 32, nullptr},
    {Dtype::kFloat32, "F32", 32, "float32"},
    {Dtype::kComplex64, "C64", 64, nullptr},
    {Dtype::kFloat64, "F64", 64, nullptr},
    {Dtype::kInt64, "I64", 64, nullptr},
    {Dtype::kUint64, "U64", 64, nullptr},
}};

const DtypeEntry& entry_of(Dtype dtype) {
  const DtypeEntry& entry = kDtypes.at(static_cast<std::size_t>(dtype));
  ATHANOR_CHECK(entry.dtype == dtype, "the table of element types is out of order");
  return entry;
}

}  // namespace

const char* dtype_name(Dtype dtype) { return entry_of(dtype).name; }

std::optional<Dtype> find_dtype(std::string_view name) {
  for (const DtypeEntry& entry : kDtypes) {
    if (name == entry.name) return entry.dtype;
  }
  return std::nullopt;
}

int dtype_bits(Dtype dtype) { return entry_of(dtype).bits; }

const char* torch_dtype_name(Dtype dtype) {
  ATHANOR_CHECK(is_weight_dtype(dtype), "weights cannot have this element type");
  return entry_of(dtype).torch_name;
}

std::optional<Dtype> find_torch_dtype(std::string_view name) {
  for (const DtypeEntry& entry : kDtypes) {
    if (entry.torch_name != nullptr && name == entry.torch_name) return entry.dtype;
  }
  return std::nullopt;
}

bool is_weight_dtype(Dtype dtype) { return entry_of(dtype).torch_name != nullptr; }

}  // namespace athanor::formats
