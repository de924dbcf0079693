// The few pieces of the protobuf wire format that event files need.
//
// Source: protobuf encoding guide: a field is a varint key (number << 3 | wire type) and a value.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace athanor::formats::wire {

inline void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

inline void put_integer(std::string& out, int field, std::int64_t value) {
  put_varint(out, static_cast<std::uint64_t>(field) << 3);
  put_varint(out, static_cast<std::uint64_t>(value));
}

template <typename T>
void put_fixed(std::string& out, int field, T value) {
  static_assert(sizeof(T) == 8 || sizeof(T) == 4);
  put_varint(out, static_cast<std::uint64_t>(field) << 3 | (sizeof(T) == 8 ? 1u : 5u));
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline void put_bytes(std::string& out, int field, std::string_view bytes) {
  put_varint(out, static_cast<std::uint64_t>(field) << 3 | 2u);
  put_varint(out, bytes.size());
  out += bytes;
}

// Walks the fields of one message. `number` and `type` describe the field at hand; its value is in `integer` or `bytes`.
class FieldReader {
 public:
  explicit FieldReader(std::string_view message) : rest_(message) {}

  // False at the end of the message or when it is malformed (then malformed() is true).
  bool next() {
    if (rest_.empty()) return false;
    std::uint64_t key = 0;
    if (!varint(key)) return fail();
    number = static_cast<int>(key >> 3);
    type = static_cast<int>(key & 7);
    if (type == 0) return varint(integer) || fail();
    if (type == 1) return take(8) || fail();
    if (type == 5) return take(4) || fail();
    std::uint64_t length = 0;
    if (type != 2 || !varint(length)) return fail();
    return take(length) || fail();
  }
  bool malformed() const { return malformed_; }

  template <typename T>
  T fixed() const {
    T value{};
    std::memcpy(&value, bytes.data(), sizeof value < bytes.size() ? sizeof value : bytes.size());
    return value;
  }

  int number = 0;
  int type = 0;
  std::uint64_t integer = 0;
  std::string_view bytes;

 private:
  bool fail() {
    malformed_ = true;
    rest_ = {};
    return false;
  }
  bool take(std::uint64_t length) {
    if (length > rest_.size()) return false;
    bytes = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return true;
  }
  bool varint(std::uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return false;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  std::string_view rest_;
  bool malformed_ = false;
};

}  // namespace athanor::formats::wire
