// Text from a model folder, token by token with a key-value cache.
//
// Fails:   UserError: no such folder, a prompt that does not fit, options out of range.
// Threads: runs on the calling thread; libtorch's threads work inside.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/config/run_config.h"
#include "engine/trainer/sampling.h"

namespace athanor::trainer {

struct GenerateRequest {
  std::string model_path;
  std::string tokenizer_path;  // empty: beside the model
  std::string prompt;
  std::int64_t max_new_tokens = 128;
  SamplingOptions sampling;
  std::uint64_t seed = 42;
  config::DeviceKind device = config::DeviceKind::kAuto;
  std::optional<config::Precision> precision;  // none: as the weights are stored
  int num_threads = 0;                         // 0: all cores
};

enum class GenerateEnd { kEndOfText, kLimit, kInterrupted };

struct Generated {
  std::string text;
  std::int64_t num_prompt_tokens = 0;
  std::int64_t num_new_tokens = 0;
  double seconds = 0.0;  // for the new tokens
  GenerateEnd end = GenerateEnd::kLimit;
};

// `show` gets every piece of text as soon as it is there.
Generated generate(const GenerateRequest& request, const std::function<void(const std::string&)>& show);

}  // namespace athanor::trainer
