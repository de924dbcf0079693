// CRC-32C (Castagnoli, reflected 0x82F63B78), in hardware where the processor has it; crc32c("123456789") = 0xe3069283.
#pragma once

#include <cstddef>
#include <cstdint>

namespace athanor::base {

// Continues `crc` (0 to start) over `num_bytes` bytes.
std::uint32_t crc32c(std::uint32_t crc, const void* data, std::size_t num_bytes);

// The masked form that TFRecord files store.
inline std::uint32_t mask_crc32c(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

}  // namespace athanor::base
