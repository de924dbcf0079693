#include "engine/shard/initialize.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <span>
#include <vector>

#include "core/base/hash.h"
#include "engine/shard/normal.h"

namespace athanor::shard {

namespace {

// Elements one task makes at a time: a multiple of the four numbers of a counter, small enough for the first-level cache.
constexpr std::int64_t kBlock = 1024;

void fill_parameter(const architecture::ParameterSpec& spec, double range, std::uint64_t seed,
                    std::span<float> values) {
  if (spec.initializer != architecture::Initializer::kNormal) {
    std::fill(values.begin(), values.end(), spec.initializer == architecture::Initializer::kOnes ? 1.0f : 0.0f);
    return;
  }
  const std::uint64_t stream = base::ContentHash().add(std::string_view(spec.name)).value64();
  const std::int64_t n = static_cast<std::int64_t>(values.size());
  const float scale = static_cast<float>(range);
  at::parallel_for(0, (n + kBlock - 1) / kBlock, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t block = begin; block < end; ++block) {
      const std::int64_t from = block * kBlock;
      const std::span<float> part = values.subspan(from, std::min(kBlock, n - from));
      fill_normal(seed, stream, static_cast<std::uint64_t>(from), part);
      for (float& value : part) value *= scale;
    }
  });
}

}  // namespace

void initialize_weights(FlatStore& store, const architecture::ModelConfig& config, std::uint64_t seed) {
  std::vector<float> values;
  for (const FlatParameter& parameter : store.layout().parameters()) {
    values.resize(static_cast<std::size_t>(parameter.num_elements));
    fill_parameter(parameter.spec, config.initializer_range, seed, values);
    const std::int64_t pad = config.pad_token_id.value_or(-1);
    if (parameter.spec.name == "model.embed_tokens.weight" && pad >= 0 && pad < config.vocab_size) {
      std::fill_n(values.begin() + pad * config.hidden_size, config.hidden_size, 0.0f);
    }
    store.write_master(parameter, values);
  }
}

}  // namespace athanor::shard
