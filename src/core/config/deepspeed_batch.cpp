#include "core/config/deepspeed_batch.h"

#include <fmt/format.h>

namespace athanor::config {
namespace {

using base::Failure;
using base::Problem;
using base::Result;

// Far beyond any batch, far below overflow in the products.
constexpr std::int64_t kLargestSize = std::int64_t{1} << 20;
constexpr std::int64_t kLargestTrain = std::int64_t{1} << 40;

std::string ranks(std::int64_t world_size) { return fmt::format("{} rank{}", world_size, world_size == 1 ? "" : "s"); }

std::optional<Problem> check_size(const char* name, std::optional<std::int64_t> value, std::int64_t largest) {
  if (!value) return std::nullopt;
  if (*value <= 0) {
    return Problem{fmt::format("{} is {} and must be > 0", name, *value), "", fmt::format("set {} to 1 or more", name)};
  }
  if (*value > largest) {
    return Problem{fmt::format("{} is {}, which is no batch size", name, *value), "",
                   fmt::format("set {} to {} or less", name, largest)};
  }
  return std::nullopt;
}

// The multiples of `unit` on either side of `train`, with the quotient that each gives to `derived`.
std::string nearest_multiples(std::int64_t train, std::int64_t unit, const char* derived) {
  const std::int64_t below = train / unit;
  if (below == 0) return fmt::format("{} or more: {} ({} 1)", unit, unit, derived);
  return fmt::format("the nearest: {} ({} {}) or {} ({})", below * unit, derived, below, (below + 1) * unit, below + 1);
}

Problem no_multiple(std::int64_t train, std::int64_t unit, const std::string& unit_words, const char* derived) {
  return {fmt::format("train_batch_size {} does not divide by {}", train, unit_words), "",
          fmt::format("set train_batch_size to {}", nearest_multiples(train, unit, derived))};
}

Problem product_differs(const BatchSizes& sizes, std::int64_t world_size) {
  const std::int64_t product = sizes.micro * sizes.accumulation * world_size;
  const std::int64_t per_accumulation = sizes.micro * world_size;
  std::string remedy;
  if (sizes.train % per_accumulation == 0) {
    remedy = fmt::format("set train_batch_size to {}, or gradient_accumulation_steps to {}", product,
                         sizes.train / per_accumulation);
  } else {
    remedy = fmt::format("set train_batch_size to {}, or with other gradient_accumulation_steps to {}", product,
                         nearest_multiples(sizes.train, per_accumulation, "gradient_accumulation_steps"));
  }
  const std::int64_t per_rank = sizes.micro * sizes.accumulation;
  if (sizes.train % per_rank == 0) remedy += fmt::format(", or run on {}", ranks(sizes.train / per_rank));
  return {fmt::format(
              "train_batch_size {} is not train_micro_batch_size_per_gpu {} x gradient_accumulation_steps {} x {} = {}",
              sizes.train, sizes.micro, sizes.accumulation, ranks(world_size), product),
          "", remedy};
}

}  // namespace

Result<BatchSizes> solve_batch_sizes(const BatchSizeInputs& inputs) {
  ATHANOR_CHECK(inputs.world_size > 0, "a world without ranks");
  const std::int64_t world = inputs.world_size;
  for (const std::optional<Problem>& problem :
       {check_size("train_batch_size", inputs.train, kLargestTrain),
        check_size("train_micro_batch_size_per_gpu", inputs.micro, kLargestSize),
        check_size("gradient_accumulation_steps", inputs.accumulation, kLargestSize)}) {
    if (problem) return Failure{*problem};
  }
  if (!inputs.train && !inputs.micro) {
    return Failure{Problem{"neither train_batch_size nor train_micro_batch_size_per_gpu is given", "",
                           "set train_micro_batch_size_per_gpu (\"auto\" takes per_device_train_batch_size)"}};
  }
  BatchSizes sizes{.train = inputs.train.value_or(0),
                   .micro = inputs.micro.value_or(0),
                   .accumulation = inputs.accumulation.value_or(0)};
  if (!inputs.train) {
    sizes.accumulation = inputs.accumulation.value_or(1);
    sizes.train = sizes.micro * sizes.accumulation * world;
    return sizes;
  }
  if (inputs.micro && inputs.accumulation) {
    if (sizes.train != sizes.micro * sizes.accumulation * world) return Failure{product_differs(sizes, world)};
    return sizes;
  }
  if (inputs.micro) {
    const std::int64_t unit = sizes.micro * world;
    const std::string words = fmt::format("micro-batch {} x {} = {}", sizes.micro, ranks(world), unit);
    if (sizes.train % unit != 0) return Failure{no_multiple(sizes.train, unit, words, "gradient_accumulation_steps")};
    sizes.accumulation = sizes.train / unit;
    return sizes;
  }
  sizes.accumulation = inputs.accumulation.value_or(1);
  const std::int64_t unit = sizes.accumulation * world;
  const std::string words = inputs.accumulation ? fmt::format("gradient_accumulation_steps {} x {} = {}",
                                                              sizes.accumulation, ranks(world), unit)
                                                : ranks(world);
  if (sizes.train % unit != 0) return Failure{no_multiple(sizes.train, unit, words, "micro-batch")};
  sizes.micro = sizes.train / unit;
  return sizes;
}

}  // namespace athanor::config
