#include "engine/shard/initialize.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <span>
#include <vector>

#include "core/base/hash.h"
#include "engine/shard/normal.h"

namespace athanor::shard {

namespace {

// Elements one task makes at a time: a multiple of the four numbers of a counter, small enough for the second-level cache.
constexpr std::int64_t kBlock = 16384;

// Elements [begin, begin + values.size()) of a parameter.
void fill_block(const architecture::ParameterSpec& spec, const architecture::ModelConfig& config, std::uint64_t seed,
                std::int64_t begin, std::span<float> values) {
  if (spec.initializer != architecture::Initializer::kNormal) {
    std::fill(values.begin(), values.end(), spec.initializer == architecture::Initializer::kOnes ? 1.0f : 0.0f);
    return;
  }
  const std::uint64_t stream = base::ContentHash().add(std::string_view(spec.name)).value64();
  fill_normal(seed, stream, static_cast<std::uint64_t>(begin), values);
  const float scale = static_cast<float>(config.initializer_range);
  for (float& value : values) value *= scale;
  if (spec.name != "model.embed_tokens.weight" || !config.pad_token_id) return;
  const std::int64_t n = static_cast<std::int64_t>(values.size());
  const std::int64_t row = *config.pad_token_id * config.hidden_size - begin;
  for (std::int64_t i = std::max<std::int64_t>(row, 0); i < std::min(row + config.hidden_size, n); ++i)
    values[i] = 0.0f;
}

}  // namespace

void initialize_weights(FlatStore& store, const architecture::ModelConfig& config, std::uint64_t seed) {
  for (const FlatParameter& parameter : store.layout().parameters()) {
    const std::int64_t n = parameter.num_elements;
    at::parallel_for(0, (n + kBlock - 1) / kBlock, 1, [&](std::int64_t from, std::int64_t to) {
      std::vector<float> values;
      for (std::int64_t block = from; block < to; ++block) {
        values.resize(static_cast<std::size_t>(std::min(kBlock, n - block * kBlock)));
        fill_block(parameter.spec, config, seed, block * kBlock, values);
        store.write_master(parameter, block * kBlock, values);
      }
    });
  }
}

}  // namespace athanor::shard
