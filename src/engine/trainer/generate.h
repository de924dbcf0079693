// Text from a model folder, token by token with a key-value cache. With ids going in and coming out no tokenizer is read.
//
// Fails:   UserError: no such folder, a prompt that does not fit, options out of range.
// Threads: runs on the calling thread; libtorch's threads work inside.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/config/run_config.h"
#include "engine/trainer/sampling.h"

namespace athanor::trainer {

struct GenerateRequest {
  std::string model_path;
  std::string tokenizer_path;  // empty: beside the model
  std::string prompt;
  std::vector<std::int32_t>
      prompt_ids;           // not empty: the prompt as it is, in place of `prompt`; nothing is put before it
  bool output_ids = false;  // show token ids, separated by spaces, in place of text
  bool ignore_eos = false;  // go on behind the end of the text
  std::int64_t max_new_tokens = 128;
  SamplingOptions sampling;
  std::uint64_t seed = 42;
  config::DeviceKind device = config::DeviceKind::kAuto;
  std::optional<config::Precision> precision;  // none: as the weights are stored
  int num_threads = 0;                         // 0: all cores
};

enum class GenerateEnd { kEndOfText, kLimit, kInterrupted };

struct Generated {
  std::string text;  // what was shown
  std::int64_t num_prompt_tokens = 0;
  std::int64_t num_new_tokens = 0;
  double seconds = 0.0;  // for the new tokens
  GenerateEnd end = GenerateEnd::kLimit;
};

// `show` gets every piece of text as soon as it is there.
Generated generate(const GenerateRequest& request, const std::function<void(const std::string&)>& show);

}  // namespace athanor::trainer
