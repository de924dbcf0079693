#include "core/base/random.h"

#include <cmath>

#include "core/base/error.h"

namespace athanor::base {

std::array<std::uint32_t, 4> philox4x32(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  std::array<std::uint32_t, 4> counter = {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                                          static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)};
  std::uint32_t key0 = static_cast<std::uint32_t>(seed);
  std::uint32_t key1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const std::uint64_t product0 = static_cast<std::uint64_t>(kPhiloxMultiplier0) * counter[0];
    const std::uint64_t product1 = static_cast<std::uint64_t>(kPhiloxMultiplier1) * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key0, static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key1, static_cast<std::uint32_t>(product0)};
    key0 += kPhiloxWeyl0;
    key1 += kPhiloxWeyl1;
  }
  return counter;
}

std::uint64_t RandomStream::next() {
  if (left_ == 0) {
    words_ = philox4x32(seed_, stream_, index_++);
    left_ = 2;
  }
  --left_;
  const int at = left_ == 1 ? 0 : 2;
  return static_cast<std::uint64_t>(words_[at]) | (static_cast<std::uint64_t>(words_[at + 1]) << 32);
}

std::uint64_t RandomStream::below(std::uint64_t bound) {
  ATHANOR_CHECK(bound > 0, "an empty range has no random member");
  // Values past the last whole multiple of `bound` would favour the small ones.
  const std::uint64_t limit = -bound % bound;
  while (true) {
    const std::uint64_t value = next();
    if (value >= limit) return value % bound;
  }
}

double RandomStream::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

double RandomStream::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * M_PI * uniform());
}

}  // namespace athanor::base
