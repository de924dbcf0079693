#include "core/formats/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <unordered_set>

#include "core/base/error.h"
#include "core/base/json.h"

namespace athanor::formats {
namespace {

using base::JsonValue;
using base::UserError;

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kMaximumHeaderBytes = 100'000'000;
constexpr const char* kCopyAgain = "copy or download the file again";
constexpr const char* kWriteAgain = "write the file again with the program that made it";

[[noreturn]] void fail(const std::string& path, std::uint64_t byte, std::string what, const char* remedy) {
  throw UserError(std::move(what), fmt::format("{}, byte {}", path, byte), remedy);
}

// Reads the header's members; every message names the tensor.
class HeaderReader {
 public:
  HeaderReader(const std::string& path, std::uint64_t data_bytes) : path_(path), data_bytes_(data_bytes) {}

  TensorInfo read_tensor(const base::JsonMember& member) const {
    TensorInfo tensor;
    tensor.name = member.key;
    if (!member.value.is_object()) refuse(tensor.name, "is not described by an object");
    const JsonValue& dtype = field(member, "dtype");
    if (!dtype.is_string()) refuse(tensor.name, "has a dtype that is no text");
    const std::optional<Dtype> known = find_dtype(dtype.as_string());
    if (!known) refuse(tensor.name, fmt::format("has the unknown dtype {}", dtype.as_string()));
    tensor.dtype = *known;
    tensor.shape = counts(member, "shape");
    const std::vector<std::int64_t> offsets = counts(member, "data_offsets");
    if (offsets.size() != 2) refuse(tensor.name, "has data_offsets that are not [begin, end]");
    tensor.begin = static_cast<std::uint64_t>(offsets[0]);
    tensor.end = static_cast<std::uint64_t>(offsets[1]);
    check_size(tensor);
    return tensor;
  }

  StringMap read_metadata(const JsonValue& value) const {
    StringMap metadata;
    if (value.is_null()) return metadata;
    if (!value.is_object()) refuse("__metadata__", "is not an object");
    for (const base::JsonMember& member : value.members()) {
      if (!member.value.is_string()) {
        refuse("__metadata__", fmt::format("holds {} that is no text", member.key));
      }
      metadata[member.key] = member.value.as_string();
    }
    return metadata;
  }

 private:
  [[noreturn]] void refuse(const std::string& name, const std::string& what) const {
    fail(path_, kLengthBytes, fmt::format("in the header, \"{}\" {}", name, what), kWriteAgain);
  }

  const JsonValue& field(const base::JsonMember& tensor, std::string_view key) const {
    const JsonValue* found = nullptr;
    for (const base::JsonMember& member : tensor.value.members()) {
      if (member.key != key) continue;
      if (found != nullptr) refuse(tensor.key, fmt::format("has {} twice", key));
      found = &member.value;
    }
    if (found == nullptr) refuse(tensor.key, fmt::format("has no {}", key));
    return *found;
  }

  std::vector<std::int64_t> counts(const base::JsonMember& tensor, std::string_view key) const {
    const JsonValue& list = field(tensor, key);
    std::vector<std::int64_t> values;
    if (!list.is_array()) refuse(tensor.key, fmt::format("has a {} that is no list", key));
    for (const JsonValue& item : list.items()) {
      if (!item.is_integer() || item.as_integer() < 0) {
        refuse(tensor.key, fmt::format("has a {} that is no list of whole numbers from 0 up", key));
      }
      values.push_back(item.as_integer());
    }
    return values;
  }

  void check_size(const TensorInfo& tensor) const {
    if (tensor.end < tensor.begin) refuse(tensor.name, "ends before it begins");
    std::uint64_t bits = static_cast<std::uint64_t>(dtype_bits(tensor.dtype));
    bool overflow = false;
    for (const std::int64_t extent : tensor.shape) {
      overflow = overflow || __builtin_mul_overflow(bits, static_cast<std::uint64_t>(extent), &bits);
    }
    if (overflow) refuse(tensor.name, fmt::format("has the impossible shape {}", format_shape(tensor.shape)));
    if (bits % 8 != 0) refuse(tensor.name, "does not end at a whole byte");
    if (bits / 8 != tensor.num_bytes()) {
      refuse(tensor.name,
             fmt::format("takes {} bytes by its offsets and {} by its shape {} and dtype {}", tensor.num_bytes(),
                         bits / 8, format_shape(tensor.shape), dtype_name(tensor.dtype)));
    }
    if (tensor.end > data_bytes_) {
      fail(path_, kLengthBytes,
           fmt::format("the file is torn: \"{}\" ends at byte {} of the data and the data has {} bytes", tensor.name,
                       tensor.end, data_bytes_),
           kCopyAgain);
    }
  }

  const std::string& path_;
  std::uint64_t data_bytes_;
};

[[noreturn]] void fail_not_safetensors(const std::string& path, std::uint64_t byte, const std::string& why) {
  fail(path, byte, "this is no safetensors file: " + why, "give the path of a safetensors file");
}

std::uint64_t read_header_length(std::span<const std::byte> file, const std::string& path) {
  if (file.size() < kLengthBytes) {
    fail(path, 0,
         fmt::format("this is no safetensors file: it has {} bytes, the header's length alone takes {}", file.size(),
                     kLengthBytes),
         kCopyAgain);
  }
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) length |= static_cast<std::uint64_t>(file[i]) << (8 * i);
  if (length > kMaximumHeaderBytes) {
    fail_not_safetensors(path, 0,
                         fmt::format("its header would have {} bytes, {} is the most", length, kMaximumHeaderBytes));
  }
  if (length == 0 || (file.size() > kLengthBytes && static_cast<char>(file[kLengthBytes]) != '{')) {
    fail_not_safetensors(path, kLengthBytes, "its header does not start with {");
  }
  if (length > file.size() - kLengthBytes) {
    fail(path, 0,
         fmt::format("the file is torn: its header has {} bytes and the file ends after {} of them", length,
                     file.size() - kLengthBytes),
         kCopyAgain);
  }
  return length;
}

JsonValue parse_header(std::string_view text, const std::string& path) {
  try {
    return base::parse_json(text, fmt::format("{} (header, from byte {})", path, kLengthBytes));
  } catch (const UserError& error) {
    const base::Problem& problem = error.problems().front();
    throw UserError("the header of this safetensors file is not JSON: " + problem.what, problem.where, kCopyAgain);
  }
}

// `tensors` are sorted by offset.
void check_tiling(const SafetensorsHeader& header, std::uint64_t file_bytes, const std::string& path) {
  std::uint64_t expected = 0;
  for (const TensorInfo& tensor : header.tensors) {
    if (tensor.begin != expected) {
      fail(path, header.data_offset + std::min(expected, tensor.begin),
           fmt::format("\"{}\" starts at byte {} of the data and the tensor before it ends at byte {}", tensor.name,
                       tensor.begin, expected),
           kWriteAgain);
    }
    expected = tensor.end;
  }
  const std::uint64_t data_bytes = file_bytes - header.data_offset;
  if (expected != data_bytes) {
    fail(path, header.data_offset + expected,
         fmt::format("{} bytes behind the last tensor belong to none", data_bytes - expected), kWriteAgain);
  }
}

}  // namespace

std::int64_t TensorInfo::num_elements() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

std::string format_shape(std::span<const std::int64_t> shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

SafetensorsHeader parse_safetensors(std::span<const std::byte> file, const std::string& path) {
  const std::uint64_t length = read_header_length(file, path);
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + kLengthBytes, length);
  const JsonValue json = parse_header(text, path);

  SafetensorsHeader header;
  header.data_offset = kLengthBytes + length;
  const HeaderReader reader(path, file.size() - header.data_offset);
  std::unordered_set<std::string_view> names;
  for (const base::JsonMember& member : json.members()) {
    if (!names.insert(member.key).second) {
      fail(path, kLengthBytes, fmt::format("the header has \"{}\" twice", member.key), kWriteAgain);
    }
    if (member.key == "__metadata__") {
      header.metadata = reader.read_metadata(member.value);
    } else {
      header.tensors.push_back(reader.read_tensor(member));
    }
  }
  std::sort(header.tensors.begin(), header.tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  check_tiling(header, file.size(), path);
  return header;
}

SafetensorsFile::SafetensorsFile(const std::string& path)
    : path_(path), map_(path), header_(parse_safetensors(map_.bytes(), path)) {
  for (std::size_t i = 0; i < header_.tensors.size(); ++i) by_name_.emplace(header_.tensors[i].name, i);
}

const TensorInfo* SafetensorsFile::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &header_.tensors[found->second];
}

std::span<const std::byte> SafetensorsFile::bytes(const TensorInfo& tensor) const {
  return map_.bytes().subspan(header_.data_offset + tensor.begin, tensor.num_bytes());
}

std::string SafetensorsFile::place(const TensorInfo& tensor) const {
  return fmt::format("{}, byte {} ({})", path_, header_.data_offset + tensor.begin, tensor.name);
}

}  // namespace athanor::formats
