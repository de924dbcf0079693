// Counter-based random numbers: a value is a pure function of (seed, stream, index), so an order or an initialisation can be
// recomputed at any position, on any rank, without a state to save.
//
// Source: Salmon et al. 2011, Philox4x32-10.
#pragma once

#include <array>
#include <cstdint>

namespace athanor::base {

inline constexpr int kPhiloxRounds = 10;
inline constexpr std::uint32_t kPhiloxMultiplier0 = 0xd2511f53u;
inline constexpr std::uint32_t kPhiloxMultiplier1 = 0xcd9e8d57u;
inline constexpr std::uint32_t kPhiloxWeyl0 = 0x9e3779b9u;
inline constexpr std::uint32_t kPhiloxWeyl1 = 0xbb67ae85u;

// Four 32-bit words for counter (index, stream) under key `seed`.
std::array<std::uint32_t, 4> philox4x32(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);

// Uniform integers below `bound` (> 0) without bias, drawn in sequence from one stream.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}
  std::uint64_t next();                      // 64 uniform bits
  std::uint64_t below(std::uint64_t bound);  // uniform in [0, bound)
  double uniform();                          // uniform in [0, 1)
  double normal();                           // standard normal (Box-Muller)

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t index_ = 0;
  std::array<std::uint32_t, 4> words_{};
  int left_ = 0;
};

}  // namespace athanor::base
