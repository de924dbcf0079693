#include "engine/trainer/sampling.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace athanor::trainer {

namespace {

struct Candidate {
  std::int32_t id;
  double weight;  // not normalised
};

std::int32_t most_likely(std::span<const float> logits) {
  return static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

// Most likely first.
std::vector<Candidate> weigh(std::span<const float> logits, double temperature) {
  const double largest = logits[static_cast<std::size_t>(most_likely(logits))];
  std::vector<Candidate> candidates;
  candidates.reserve(logits.size());
  for (std::size_t id = 0; id < logits.size(); ++id) {
    candidates.push_back({static_cast<std::int32_t>(id), std::exp((logits[id] - largest) / temperature)});
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.id < b.id;
  });
  return candidates;
}

double sum_of(const std::vector<Candidate>& candidates) {
  double sum = 0.0;
  for (const Candidate& candidate : candidates) sum += candidate.weight;
  return sum;
}

void keep_nucleus(std::vector<Candidate>& candidates, double top_p) {
  const double wanted = top_p * sum_of(candidates);
  double reached = 0.0;
  std::size_t kept = 0;
  while (kept < candidates.size() && (kept == 0 || reached < wanted)) reached += candidates[kept++].weight;
  candidates.resize(kept);
}

}  // namespace

std::int32_t sample_token(std::span<const float> logits, const SamplingOptions& options, double uniform) {
  if (options.temperature <= 0.0) return most_likely(logits);
  std::vector<Candidate> candidates = weigh(logits, options.temperature);
  if (options.top_p < 1.0) keep_nucleus(candidates, options.top_p);
  double left = uniform * sum_of(candidates);
  for (const Candidate& candidate : candidates) {
    left -= candidate.weight;
    if (left < 0.0) return candidate.id;
  }
  return candidates.back().id;
}

}  // namespace athanor::trainer
