#include <algorithm>
#include <bit>
#include <cmath>

#include "core/base/random.h"
#include "core/base/vector_clones.h"
#include "engine/shard/normal.h"

namespace athanor::shard {

namespace {

// Counters handled together, so that the loops below run over whole vectors.
constexpr std::size_t kCounters = 64;

// -2 ln(u), 0 < u <= 1. ln m = 2 artanh((m-1)/(m+1)) for m in [sqrt(1/2), sqrt(2)): |s| < 0.172, so the sixth term is below 1e-9.
inline float twice_negative_log(float u) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(u);
  const std::uint32_t shifted = bits - 0x3f3504f3u;  // sqrt(1/2)
  const float exponent = static_cast<float>(static_cast<std::int32_t>(shifted) >> 23);
  const float mantissa = std::bit_cast<float>((shifted & 0x007fffffu) + 0x3f3504f3u);
  const float s = (mantissa - 1.0f) / (mantissa + 1.0f);
  const float square = s * s;
  const float series = 1.0f + square * (1.0f / 3 + square * (1.0f / 5 + square * (1.0f / 7 + square * (1.0f / 9))));
  return -2.0f * (2.0f * s * series + exponent * 0.69314718f);
}

// sin(2 pi x), |x| <= 1/4, by its Taylor series: the next term is below 1e-9.
inline float sine_of_turns(float x) {
  const float angle = x * 6.2831853f;
  const float square = angle * angle;
  return angle *
         (1.0f + square * (-1.0f / 6 +
                           square * (1.0f / 120 +
                                     square * (-1.0f / 5040 + square * (1.0f / 362880 +
                                                                        square * (-1.0f / 39916800 +
                                                                                  square * (1.0f / 6227020800.0f)))))));
}

// base::philox4x32 for counters first, first + 1, ... at once.
ATHANOR_VECTOR_CLONES
void random_words(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, std::uint32_t (&words)[4][kCounters]) {
  for (std::size_t i = 0; i < kCounters; ++i) {
    words[0][i] = static_cast<std::uint32_t>(first + i);
    words[1][i] = static_cast<std::uint32_t>((first + i) >> 32);
    words[2][i] = static_cast<std::uint32_t>(stream);
    words[3][i] = static_cast<std::uint32_t>(stream >> 32);
  }
  std::uint32_t key0 = static_cast<std::uint32_t>(seed);
  std::uint32_t key1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < base::kPhiloxRounds; ++round) {
    for (std::size_t i = 0; i < kCounters; ++i) {
      const std::uint64_t product0 = static_cast<std::uint64_t>(base::kPhiloxMultiplier0) * words[0][i];
      const std::uint64_t product1 = static_cast<std::uint64_t>(base::kPhiloxMultiplier1) * words[2][i];
      words[0][i] = static_cast<std::uint32_t>(product1 >> 32) ^ words[1][i] ^ key0;
      words[1][i] = static_cast<std::uint32_t>(product1);
      words[2][i] = static_cast<std::uint32_t>(product0 >> 32) ^ words[3][i] ^ key1;
      words[3][i] = static_cast<std::uint32_t>(product0);
    }
    key0 += base::kPhiloxWeyl0;
    key1 += base::kPhiloxWeyl1;
  }
}

// Each counter's four words give two radii and two angles: words[w][i] is word w of counter i.
ATHANOR_VECTOR_CLONES
void transform(const std::uint32_t (&words)[4][kCounters], float (&normals)[4][kCounters]) {
  constexpr float kUnit = 0x1.0p-24f;
  for (int pair = 0; pair < 2; ++pair) {
    for (std::size_t i = 0; i < kCounters; ++i) {
      const float u = (static_cast<float>(static_cast<std::int32_t>(words[2 * pair][i] >> 8)) + 1.0f) * kUnit;
      // A turn in [-1/2, 1/2).
      const float turn = static_cast<float>(static_cast<std::int32_t>(words[2 * pair + 1][i]) >> 8) * kUnit;
      const float magnitude = std::fabs(turn);
      const float folded = magnitude > 0.25f ? 0.5f - magnitude : magnitude;
      const float radius = std::sqrt(twice_negative_log(u));
      normals[2 * pair][i] = radius * sine_of_turns(0.25f - magnitude);
      normals[2 * pair + 1][i] = radius * std::copysign(sine_of_turns(folded), turn);
    }
  }
}

}  // namespace

void fill_normal(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, std::span<float> values) {
  std::uint32_t words[4][kCounters];
  float normals[4][kCounters];
  for (std::size_t done = 0; done < values.size(); done += 4 * kCounters) {
    random_words(seed, stream, (first + done) / 4, words);
    transform(words, normals);
    const std::size_t n = std::min(values.size() - done, 4 * kCounters);
    for (std::size_t j = 0; j < n; ++j) values[done + j] = normals[j % 4][j / 4];
  }
}

}  // namespace athanor::shard
