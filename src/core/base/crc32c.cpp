#include "core/base/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace athanor::base {

namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78u;

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1u) != 0 ? (crc >> 1) ^ kPolynomial : crc >> 1;
    table[byte] = crc;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> kTable = make_table();

std::uint32_t update_portable(std::uint32_t crc, const unsigned char* data, std::size_t num_bytes) {
  for (std::size_t i = 0; i < num_bytes; ++i) crc = (crc >> 8) ^ kTable[(crc ^ data[i]) & 0xffu];
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t update_hardware(std::uint32_t crc, const unsigned char* data,
                                                                std::size_t num_bytes) {
  std::uint64_t wide = crc;
  while (num_bytes >= 8) {
    std::uint64_t word;
    std::memcpy(&word, data, 8);
    wide = _mm_crc32_u64(wide, word);
    data += 8;
    num_bytes -= 8;
  }
  crc = static_cast<std::uint32_t>(wide);
  while (num_bytes-- > 0) crc = _mm_crc32_u8(crc, *data++);
  return crc;
}
#endif

}  // namespace

std::uint32_t crc32c(std::uint32_t crc, const void* data, std::size_t num_bytes) {
  const auto* bytes = static_cast<const unsigned char*>(data);
#if defined(__x86_64__)
  static const bool has_hardware = __builtin_cpu_supports("sse4.2") != 0;
  if (has_hardware) return ~update_hardware(~crc, bytes, num_bytes);
#endif
  return ~update_portable(~crc, bytes, num_bytes);
}

}  // namespace athanor::base
