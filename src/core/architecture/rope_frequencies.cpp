// Source: Su et al. 2021 (RoPE); linear: position interpolation, Chen et al. 2023; dynamic: NTK-aware scaling by the length at
// hand; yarn: Peng et al. 2023; llama3: the Llama 3.1 release. Steps are taken in fp32 where transformers takes them in fp32.
#include <algorithm>
#include <cmath>

#include "core/architecture/model_config.h"

namespace athanor::architecture {
namespace {

constexpr double kPi = 3.14159265358979323846;

// base^(2i / dim) for every pair i; the exponent is rounded to fp32 first.
std::vector<float> powers_of(double base, std::int64_t dim) {
  std::vector<float> powers;
  for (std::int64_t i = 0; i < dim; i += 2) {
    const float exponent = static_cast<float>(i) / static_cast<float>(dim);
    powers.push_back(static_cast<float>(std::pow(base, static_cast<double>(exponent))));
  }
  return powers;
}

std::vector<float> inverses(std::vector<float> values) {
  for (float& value : values) value = 1.0f / value;
  return values;
}

// Growth of the attention's temperature with the context: 0.1 m ln(scale) + 1.
double mscale_of(double scale, double m) { return scale <= 1 ? 1.0 : 0.1 * m * std::log(scale) + 1.0; }

double yarn_attention_factor(const RopeConfig& rope) {
  if (rope.attention_factor) return *rope.attention_factor;
  const double m = rope.mscale.value_or(0.0);
  const double m_all = rope.mscale_all_dim.value_or(0.0);
  if (m != 0 && m_all != 0) return mscale_of(rope.factor, m) / mscale_of(rope.factor, m_all);
  return mscale_of(rope.factor, 1.0);
}

// The (fractional) dimension that turns `rotations` times within the original context.
double correction_dim(const RopeConfig& rope, double dim, double rotations) {
  const double length = static_cast<double>(rope.original_max_position_embeddings);
  return dim * std::log(length / (rotations * 2 * kPi)) / (2 * std::log(rope.theta));
}

std::vector<float> yarn_frequencies(const RopeConfig& rope, std::int64_t dim) {
  double low = correction_dim(rope, static_cast<double>(dim), rope.beta_fast);
  double high = correction_dim(rope, static_cast<double>(dim), rope.beta_slow);
  if (rope.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(dim - 1));
  if (low == high) high += 0.001;

  std::vector<float> values = powers_of(rope.theta, dim);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float extrapolated = 1.0f / values[i];
    const float interpolated = 1.0f / (static_cast<float>(rope.factor) * values[i]);
    const float ramp =
        std::clamp((static_cast<float>(i) - static_cast<float>(low)) / static_cast<float>(high - low), 0.0f, 1.0f);
    const float share = 1.0f - ramp;
    values[i] = interpolated * (1.0f - share) + extrapolated * share;
  }
  return values;
}

std::vector<float> llama3_frequencies(const RopeConfig& rope, std::int64_t dim) {
  const double length = static_cast<double>(rope.original_max_position_embeddings);
  const float longest = static_cast<float>(length / rope.low_freq_factor);
  const float shortest = static_cast<float>(length / rope.high_freq_factor);
  const float factor = static_cast<float>(rope.factor);
  std::vector<float> values = inverses(powers_of(rope.theta, dim));
  for (float& value : values) {
    const float wavelength = static_cast<float>(2 * kPi) / value;
    if (wavelength > longest) {
      value /= factor;
    } else if (wavelength >= shortest) {
      const float smooth = (static_cast<float>(length) / wavelength - static_cast<float>(rope.low_freq_factor)) /
                           static_cast<float>(rope.high_freq_factor - rope.low_freq_factor);
      value = (1.0f - smooth) * value / factor + smooth * value;
    }
  }
  return values;
}

}  // namespace

RopeFrequencies rope_frequencies(const ModelConfig& config, std::int64_t sequence_length) {
  const RopeConfig& rope = config.rope;
  const std::int64_t dim = config.head_dim;
  switch (rope.type) {
    case RopeType::kDefault:
      return {inverses(powers_of(rope.theta, dim)), 1.0};
    case RopeType::kLinear: {
      std::vector<float> values = inverses(powers_of(rope.theta, dim));
      for (float& value : values) value /= static_cast<float>(rope.factor);
      return {values, 1.0};
    }
    case RopeType::kDynamic: {
      const double trained = static_cast<double>(config.max_position_embeddings);
      const double length = std::max(static_cast<double>(sequence_length), trained);
      const double stretch = rope.factor * length / trained - (rope.factor - 1);
      const double d = static_cast<double>(dim);
      return {inverses(powers_of(rope.theta * std::pow(stretch, d / (d - 2)), dim)), 1.0};
    }
    case RopeType::kYarn:
      return {yarn_frequencies(rope, dim), yarn_attention_factor(rope)};
    case RopeType::kLlama3:
      return {llama3_frequencies(rope, dim), 1.0};
  }
  return {};
}

}  // namespace athanor::architecture
