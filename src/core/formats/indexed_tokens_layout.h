// Where the parts of a .idx file are. Internal to indexed_tokens*.cpp; docs/formats/indexed_tokens.md is the description.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace athanor::formats {

inline constexpr std::string_view kIndexMagic("MMIDIDX\0\0", 9);
inline constexpr std::uint64_t kIndexVersion = 1;
inline constexpr std::size_t kVersionOffset = 9;
inline constexpr std::size_t kTypeOffset = 17;
inline constexpr std::size_t kNumSequencesOffset = 18;
inline constexpr std::size_t kNumDocumentStartsOffset = 26;
inline constexpr std::size_t kLengthsOffset = 34;
inline constexpr std::size_t kLengthBytes = 4;
inline constexpr std::size_t kPointerBytes = 8;
inline constexpr std::size_t kDocumentStartBytes = 8;

}  // namespace athanor::formats
