// The next token from logits: greedy, or drawn after temperature and nucleus.
//
// Source:  Holtzman et al. 2020 (top-p); agrees with transformers' TemperatureLogitsWarper and TopPLogitsWarper on what is kept.
// Threads: pure.
#pragma once

#include <cstdint>
#include <span>

namespace athanor::trainer {

struct SamplingOptions {
  double temperature = 0.0;  // 0: greedy
  double top_p = 1.0;        // the smallest set of most likely tokens with at least this probability
};

// `uniform` in [0, 1) picks the token; equal logits are taken in the order of their ids. logits: [vocab_size].
std::int32_t sample_token(std::span<const float> logits, const SamplingOptions& options, double uniform);

}  // namespace athanor::trainer
