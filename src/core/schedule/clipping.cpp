#include "core/schedule/clipping.h"

#include <algorithm>
#include <cmath>

namespace athanor::schedule {

double clip_coefficient(double norm, double max_norm) {
  constexpr double kEpsilon = 1e-6;
  if (max_norm <= 0 || !std::isfinite(norm)) return 1.0;
  return std::min(1.0, max_norm / (norm + kEpsilon));
}

}  // namespace athanor::schedule
