#include "engine/trainer/generate.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/architecture/model_folder.h"
#include "core/base/clock.h"
#include "core/base/random.h"
#include "core/formats/stream_decoder.h"
#include "engine/checkpoint/loader.h"
#include "engine/model/kv_cache.h"
#include "engine/model/model.h"
#include "engine/shard/flat_store.h"
#include "engine/trainer/device.h"
#include "engine/trainer/interrupt.h"
#include "engine/trainer/model_input.h"

namespace athanor::trainer {

namespace {

struct Loaded {
  architecture::ModelConfig config;
  std::optional<formats::Tokenizer> tokenizer;  // none: ids go in and come out
  std::unique_ptr<shard::FlatStore> store;
  std::unique_ptr<model::Model> model;
};

Loaded load(const GenerateRequest& request) {
  const architecture::ModelFolder folder = architecture::open_model_folder(request.model_path);
  const architecture::ModelWeights weights = architecture::open_model_weights(folder);
  std::optional<formats::Tokenizer> tokenizer;
  if (request.prompt_ids.empty() || !request.output_ids) {
    tokenizer = formats::Tokenizer::load(request.tokenizer_path.empty() ? request.model_path : request.tokenizer_path);
  }
  const at::Device device = choose_device(request.device, look_at_hardware());
  const at::ScalarType type = scalar_type(request.precision.value_or(precision_of(weights.prevalent_dtype())));
  auto store = std::make_unique<shard::FlatStore>(
      architecture::list_units(folder.config),
      shard::StoreOptions{.compute_type = type, .gradient_type = type, .device = device});
  checkpoint::load_weights(*store, weights, request.model_path);
  auto model =
      std::make_unique<model::Model>(folder.config, model::ModelOptions{.compute_type = type, .device = device});
  return {folder.config, std::move(tokenizer), std::move(store), std::move(model)};
}

void check_options(const GenerateRequest& request) {
  base::Problems problems;
  if (request.sampling.temperature < 0.0)
    problems.add("the temperature must not be negative", "--temperature", "set it to 0 or more");
  if (request.sampling.top_p <= 0.0 || request.sampling.top_p > 1.0) {
    problems.add("top_p must be above 0 and at most 1", "--top_p", "set it to 1 to keep every token");
  }
  if (request.max_new_tokens < 1)
    problems.add("there is nothing to generate", "--max_new_tokens", "set it to 1 or more");
  if (!request.prompt.empty() && !request.prompt_ids.empty())
    problems.add("the prompt is given twice", "--prompt and --prompt_ids", "write one of them");
  problems.throw_if_any();
}

std::vector<std::int32_t> encode_prompt(const Loaded& loaded, const std::string& prompt) {
  std::vector<std::int32_t> tokens = loaded.tokenizer->encode(prompt);
  // Training puts BOS in front of every document, so the model expects it.
  const std::optional<std::int32_t> bos = loaded.tokenizer->bos_id();
  if (bos && (tokens.empty() || tokens.front() != *bos)) tokens.insert(tokens.begin(), *bos);
  if (tokens.empty()) {
    throw base::UserError("the prompt is empty and the tokenizer has no BOS to start from", "--prompt",
                          "write a prompt");
  }
  return tokens;
}

std::vector<std::int32_t> prompt_of(const Loaded& loaded, const GenerateRequest& request) {
  const bool as_ids = !request.prompt_ids.empty();
  std::vector<std::int32_t> tokens = as_ids ? request.prompt_ids : encode_prompt(loaded, request.prompt);
  const std::int64_t limit = loaded.config.max_position_embeddings;
  if (static_cast<std::int64_t>(tokens.size()) >= limit) {
    throw base::UserError(fmt::format("the prompt has {} tokens, the model takes {}", tokens.size(), limit),
                          as_ids ? "--prompt_ids" : "--prompt", "shorten the prompt");
  }
  for (const std::int32_t token : tokens) {
    if (token < 0 || token >= loaded.config.vocab_size) {
      throw base::UserError(
          fmt::format("token {} of the prompt is beyond the model's vocabulary of {}", token, loaded.config.vocab_size),
          as_ids ? "--prompt_ids" : "the tokenizer",
          as_ids ? fmt::format("use ids from 0 to {}", loaded.config.vocab_size - 1)
                 : "name the model's own tokenizer with --tokenizer_name");
    }
  }
  return tokens;
}

// Turns tokens into what is shown, piece by piece.
class Shower {
 public:
  explicit Shower(const std::optional<formats::Tokenizer>& tokenizer, bool output_ids) {
    if (!output_ids) decoder_.emplace(*tokenizer);
  }
  std::string push(std::int32_t token) {
    if (decoder_) return decoder_->push(token);
    return fmt::format("{}{}", std::exchange(first_, false) ? "" : " ", token);
  }
  std::string finish() { return decoder_ ? decoder_->finish() : ""; }

 private:
  std::optional<formats::StreamDecoder> decoder_;  // none: ids are shown
  bool first_ = true;
};

bool ends_text(const Loaded& loaded, std::int32_t token) {
  const std::vector<std::int64_t>& ends = loaded.config.eos_token_ids;
  return std::find(ends.begin(), ends.end(), token) != ends.end() ||
         (loaded.tokenizer && loaded.tokenizer->eos_id() == token);
}

std::int32_t next_token(const at::Tensor& logits, const SamplingOptions& options, base::RandomStream& random) {
  const at::Tensor host = logits.to(at::kCPU).contiguous();
  return sample_token({host.data_ptr<float>(), static_cast<std::size_t>(host.numel())}, options, random.uniform());
}

}  // namespace

Generated generate(const GenerateRequest& request, const std::function<void(const std::string&)>& show) {
  check_options(request);
  if (request.num_threads > 0) at::set_num_threads(request.num_threads);
  const Loaded loaded = load(request);
  const std::vector<std::int32_t> prompt = prompt_of(loaded, request);
  const std::int64_t room = loaded.config.max_position_embeddings - static_cast<std::int64_t>(prompt.size());
  const std::int64_t limit = std::min(request.max_new_tokens, room);
  const auto cache = loaded.model->make_cache(static_cast<std::int64_t>(prompt.size()) + limit);
  base::RandomStream random(request.seed, 0);
  Shower shower(loaded.tokenizer, request.output_ids);
  Generated result;
  result.num_prompt_tokens = static_cast<std::int64_t>(prompt.size());
  const auto say = [&](const std::string& text) {
    result.text += text;
    if (!text.empty()) show(text);
  };
  const base::Clock::time_point start = base::Clock::now();
  std::int32_t token = next_token(loaded.model->decode_step(prompt, *cache, *loaded.store), request.sampling, random);
  while (true) {
    ++result.num_new_tokens;
    if (!request.ignore_eos && ends_text(loaded, token)) result.end = GenerateEnd::kEndOfText;
    if (result.end == GenerateEnd::kEndOfText) break;
    say(shower.push(token));
    if (result.num_new_tokens == limit) break;
    if (interrupt_requested()) {
      result.end = GenerateEnd::kInterrupted;
      break;
    }
    token =
        next_token(loaded.model->decode_step(std::span(&token, 1), *cache, *loaded.store), request.sampling, random);
  }
  say(shower.finish());
  result.seconds = base::Seconds(base::Clock::now() - start).count();
  return result;
}

}  // namespace athanor::trainer
