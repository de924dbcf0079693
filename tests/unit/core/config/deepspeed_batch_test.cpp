#include "core/config/deepspeed_batch.h"

#include <gtest/gtest.h>

namespace athanor::config {
namespace {

BatchSizes solve(const BatchSizeInputs& inputs) {
  const base::Result<BatchSizes> sizes = solve_batch_sizes(inputs);
  if (!sizes.ok()) {
    ADD_FAILURE() << sizes.error().what;
    return {};
  }
  return sizes.value();
}

base::Problem refuse(const BatchSizeInputs& inputs) {
  const base::Result<BatchSizes> sizes = solve_batch_sizes(inputs);
  if (sizes.ok()) {
    ADD_FAILURE() << "solved";
    return {};
  }
  return sizes.error();
}

TEST(BatchSizes, WhatIsMissingFollowsAsInDeepSpeed) {
  EXPECT_EQ(solve({.train = 128, .micro = 4, .accumulation = 4, .world_size = 8}), (BatchSizes{128, 4, 4}));
  EXPECT_EQ(solve({.train = 128, .micro = 4, .world_size = 8}), (BatchSizes{128, 4, 4}));
  EXPECT_EQ(solve({.train = 128, .accumulation = 4, .world_size = 8}), (BatchSizes{128, 4, 4}));
  EXPECT_EQ(solve({.micro = 4, .accumulation = 4, .world_size = 8}), (BatchSizes{128, 4, 4}));
  EXPECT_EQ(solve({.train = 128, .world_size = 8}), (BatchSizes{128, 16, 1}));
  EXPECT_EQ(solve({.micro = 4, .world_size = 8}), (BatchSizes{32, 4, 1}));
  EXPECT_EQ(solve({.train = 3, .world_size = 1}), (BatchSizes{3, 3, 1}));
}

struct Refused {
  BatchSizeInputs inputs;
  const char* what;
  const char* remedy;
};

TEST(BatchSizes, WhatDoesNotFitIsRefusedWithTheNearestThatDoes) {
  const Refused cases[] = {
      {{.train = 256, .micro = 2, .world_size = 7},
       "train_batch_size 256 does not divide by micro-batch 2 x 7 ranks = 14",
       "set train_batch_size to the nearest: 252 (gradient_accumulation_steps 18) or 266 (19)"},
      {{.train = 10, .accumulation = 3, .world_size = 1},
       "train_batch_size 10 does not divide by gradient_accumulation_steps 3 x 1 rank = 3",
       "set train_batch_size to the nearest: 9 (micro-batch 3) or 12 (4)"},
      {{.train = 30, .world_size = 8},
       "train_batch_size 30 does not divide by 8 ranks",
       "set train_batch_size to the nearest: 24 (micro-batch 3) or 32 (4)"},
      {{.train = 1, .world_size = 8},
       "train_batch_size 1 does not divide by 8 ranks",
       "set train_batch_size to 8 or more: 8 (micro-batch 1)"},
      {{.train = 384, .micro = 2, .accumulation = 64, .world_size = 8},
       "train_batch_size 384 is not train_micro_batch_size_per_gpu 2 x gradient_accumulation_steps 64 x 8 ranks = 1024",
       "set train_batch_size to 1024, or gradient_accumulation_steps to 24, or run on 3 ranks"},
      {{.train = 7, .micro = 2, .accumulation = 2, .world_size = 2},
       "train_batch_size 7 is not train_micro_batch_size_per_gpu 2 x gradient_accumulation_steps 2 x 2 ranks = 8",
       "set train_batch_size to 8, or with other gradient_accumulation_steps to the nearest: 4 "
       "(gradient_accumulation_steps 1) or 8 (2)"},
      {{.train = 256, .micro = 2, .accumulation = 18, .world_size = 7},
       "train_batch_size 256 is not train_micro_batch_size_per_gpu 2 x gradient_accumulation_steps 18 x 7 ranks = 252",
       "set train_batch_size to 252, or with other gradient_accumulation_steps to the nearest: 252 "
       "(gradient_accumulation_steps 18) or 266 (19)"},
      {{.accumulation = 4, .world_size = 2},
       "neither train_batch_size nor train_micro_batch_size_per_gpu is given",
       "set train_micro_batch_size_per_gpu (\"auto\" takes per_device_train_batch_size)"},
      {{.world_size = 2},
       "neither train_batch_size nor train_micro_batch_size_per_gpu is given",
       "set train_micro_batch_size_per_gpu (\"auto\" takes per_device_train_batch_size)"},
      {{.train = 0, .world_size = 1}, "train_batch_size is 0 and must be > 0", "set train_batch_size to 1 or more"},
      {{.micro = -2, .world_size = 1},
       "train_micro_batch_size_per_gpu is -2 and must be > 0",
       "set train_micro_batch_size_per_gpu to 1 or more"},
      {{.micro = std::int64_t{1} << 60, .accumulation = 2, .world_size = 1},
       "train_micro_batch_size_per_gpu is 1152921504606846976, which is no batch size",
       "set train_micro_batch_size_per_gpu to 1048576 or less"},
  };
  for (const Refused& refused : cases) {
    const base::Problem problem = refuse(refused.inputs);
    EXPECT_EQ(problem.what, refused.what);
    EXPECT_EQ(problem.remedy, refused.remedy);
    EXPECT_EQ(problem.where, "");
  }
}

// The rule of DeepSpeed by brute force: floor divisions, then the product must hold.
TEST(BatchSizes, AgreesWithFloorDivisionAndProductCheckEverywhere) {
  for (std::int64_t world = 1; world <= 5; ++world) {
    for (std::int64_t train = 1; train <= 40; ++train) {
      for (std::int64_t part = 1; part <= 9; ++part) {
        const std::int64_t accumulation = train / part / world;
        const bool fits = accumulation > 0 && accumulation * part * world == train;
        EXPECT_EQ(solve_batch_sizes({.train = train, .micro = part, .world_size = world}).ok(), fits);
        EXPECT_EQ(solve_batch_sizes({.train = train, .accumulation = part, .world_size = world}).ok(), fits);
      }
      EXPECT_EQ(solve_batch_sizes({.train = train, .world_size = world}).ok(), train % world == 0);
    }
  }
}

}  // namespace
}  // namespace athanor::config
