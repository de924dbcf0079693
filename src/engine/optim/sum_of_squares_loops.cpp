#include <algorithm>

#include "core/base/vector_clones.h"
#include "engine/optim/sum_of_squares.h"
#include "engine/shard/master_weights.h"

namespace athanor::optim {

namespace {

constexpr std::size_t kLanes = 16;
constexpr std::size_t kBlock = 1024;

ATHANOR_VECTOR_CLONES
double of_floats(const float* values, std::size_t n) {
  double lanes[kLanes] = {};
  const std::size_t whole = n / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double value = values[i + lane];
      lanes[lane] += value * value;
    }
  }
  double sum = 0.0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) sum += lanes[lane];
  for (std::size_t i = whole; i < n; ++i) sum += static_cast<double>(values[i]) * values[i];
  return sum;
}

}  // namespace

double sum_of_squares(const void* values, at::ScalarType type, std::size_t n) {
  if (type == at::kFloat) return of_floats(static_cast<const float*>(values), n);
  alignas(64) float wide[kBlock];
  const std::uint16_t* narrow = static_cast<const std::uint16_t*>(values);
  double sum = 0.0;
  for (std::size_t at = 0; at < n; at += kBlock) {
    const std::size_t length = std::min(kBlock, n - at);
    type == at::kBFloat16 ? shard::widen_bfloat16(narrow + at, wide, length)
                          : shard::widen_float16(narrow + at, wide, length);
    sum += of_floats(wide, length);
  }
  return sum;
}

}  // namespace athanor::optim
