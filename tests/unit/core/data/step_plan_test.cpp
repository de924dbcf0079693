#include "core/data/step_plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace athanor::data {
namespace {

StepPlan plan_of(std::int64_t num_batches, std::int64_t world_size, std::int64_t accumulation_steps, double num_epochs,
                 std::int64_t max_steps = -1) {
  return make_step_plan({num_batches, world_size, accumulation_steps, num_epochs, max_steps});
}

// What a training loop does, written out: ranks take micro-batches in turn, each `accumulation` of them are a step, what is left at
// the end of an epoch is a step too. steps[s][rank] are indices of micro-batches of the epoch, in order.
using Steps = std::vector<std::vector<std::vector<std::int64_t>>>;

Steps simulate_epoch(std::int64_t num_batches, std::int64_t world_size, std::int64_t accumulation) {
  std::vector<std::vector<std::int64_t>> queues(static_cast<std::size_t>(world_size));
  for (std::int64_t batch = 0; batch < num_batches; ++batch) {
    queues[static_cast<std::size_t>(batch % world_size)].push_back(batch);
  }
  const std::size_t longest = queues[0].size();
  Steps steps;
  for (std::size_t begin = 0; begin < longest; begin += static_cast<std::size_t>(accumulation)) {
    steps.emplace_back();
    for (const std::vector<std::int64_t>& queue : queues) {
      const std::size_t end = std::min(queue.size(), begin + static_cast<std::size_t>(accumulation));
      steps.back().emplace_back(queue.begin() + static_cast<std::ptrdiff_t>(std::min(begin, end)),
                                queue.begin() + static_cast<std::ptrdiff_t>(end));
    }
  }
  return steps;
}

std::vector<std::int64_t> batches_of(const StepPlan& plan, std::int64_t step, std::int64_t rank) {
  std::vector<std::int64_t> batches;
  for (std::int64_t part = 0; part < plan.group_size(step); ++part) {
    const std::int64_t batch = plan.batch_index(step, part, rank);
    if (batch >= 0) batches.push_back(batch);
  }
  return batches;
}

TEST(StepPlan, EqualsASimulationForAllSmallRuns) {
  constexpr double kEpochs = 2.0;
  for (std::int64_t rows = 1; rows <= 60; ++rows) {
    for (std::int64_t micro = 1; micro <= 4; ++micro) {
      for (std::int64_t world = 1; world <= 4; ++world) {
        for (std::int64_t accumulation = 1; accumulation <= 4; ++accumulation) {
          for (const bool drop_last : {false, true}) {
            const std::int64_t num_batches = drop_last ? rows / micro : (rows + micro - 1) / micro;
            if (num_batches == 0) continue;
            SCOPED_TRACE(::testing::Message() << rows << " rows, micro " << micro << ", ranks " << world
                                              << ", accumulation " << accumulation << ", drop_last " << drop_last);
            const StepPlan plan = plan_of(num_batches, world, accumulation, kEpochs);
            const Steps epoch = simulate_epoch(num_batches, world, accumulation);
            const auto updates = static_cast<std::int64_t>(epoch.size());
            ASSERT_EQ(plan.updates_per_epoch, updates);
            ASSERT_EQ(plan.total_steps, 2 * updates);
            ASSERT_EQ(plan.num_epochs, 2);
            std::vector<int> taken(static_cast<std::size_t>(2 * num_batches), 0);
            for (std::int64_t step = 0; step < plan.total_steps; ++step) {
              ASSERT_EQ(plan.epoch_of(step), step / updates);
              ASSERT_EQ(plan.update_in_epoch(step), step % updates);
              const auto& expected = epoch[static_cast<std::size_t>(step % updates)];
              ASSERT_EQ(plan.group_size(step), static_cast<std::int64_t>(expected[0].size()));
              for (std::int64_t rank = 0; rank < world; ++rank) {
                const std::vector<std::int64_t> batches = batches_of(plan, step, rank);
                ASSERT_EQ(batches, expected[static_cast<std::size_t>(rank)]);
                for (const std::int64_t batch : batches) {
                  ++taken[static_cast<std::size_t>(plan.epoch_of(step) * num_batches + batch)];
                }
              }
            }
            // Every micro-batch once in every epoch.
            ASSERT_EQ(taken, std::vector<int>(taken.size(), 1));
          }
        }
      }
    }
  }
}

// 148 rows in micro-batches of 2 are 74; 16 to a step are 4 steps and one of the 10 left.
TEST(StepPlan, ShortGroupAtTheEndOfAnEpochIsAStepOfItsOwn) {
  const StepPlan plan = plan_of(148 / 2, 1, 16, 3);
  EXPECT_EQ(plan.updates_per_epoch, 5);
  EXPECT_EQ(plan.total_steps, 15);
  for (std::int64_t step = 0; step < 15; ++step) EXPECT_EQ(plan.group_size(step), step % 5 == 4 ? 10 : 16) << step;
}

TEST(StepPlan, ShortGroupIsTheSameWhenStoppedAfterTenSteps) {
  const StepPlan plan = plan_of(74, 1, 16, 3, 10);
  EXPECT_EQ(plan.total_steps, 10);
  EXPECT_EQ(plan.num_epochs, 2);
  EXPECT_EQ(plan.group_size(4), 10);
  EXPECT_EQ(plan.group_size(9), 10);
}

TEST(StepPlan, FewerBatchesThanAnAccumulationAreOneStepOfThem) {
  const StepPlan plan = plan_of(3, 1, 4, 2);
  EXPECT_EQ(plan.updates_per_epoch, 1);
  EXPECT_EQ(plan.total_steps, 2);
  EXPECT_EQ(plan.group_size(0), 3);
  EXPECT_EQ(plan.group_size(1), 3);
  // The second epoch begins with its own first batch: nothing is carried over.
  EXPECT_EQ(plan.batch_index(1, 0, 0), 0);
}

TEST(StepPlan, RankWithoutABatchLeftIsToldSo) {
  const StepPlan plan = plan_of(5, 4, 1, 1);
  EXPECT_EQ(plan.updates_per_epoch, 2);
  EXPECT_EQ(plan.batch_index(1, 0, 0), 4);
  for (std::int64_t rank = 1; rank < 4; ++rank) EXPECT_EQ(plan.batch_index(1, 0, rank), -1) << rank;
}

TEST(StepPlan, PartsOfAnEpochAreRoundedUpToSteps) {
  EXPECT_EQ(plan_of(10, 1, 1, 0.25).total_steps, 3);
  EXPECT_EQ(plan_of(10, 1, 1, 1.5).total_steps, 15);
  EXPECT_EQ(plan_of(10, 1, 4, 0.5).total_steps, 2);  // 3 updates per epoch
  EXPECT_EQ(plan_of(10, 1, 4, 2.5).total_steps, 8);
  EXPECT_EQ(plan_of(10, 1, 4, 2.5).num_epochs, 3);
  EXPECT_EQ(plan_of(10, 1, 1, 0.01).total_steps, 1);
  EXPECT_EQ(plan_of(10, 1, 1, 0.01).num_epochs, 1);
}

TEST(StepPlan, MaxStepsWinsOverEpochsBothWays) {
  EXPECT_EQ(plan_of(10, 1, 1, 3, 7).total_steps, 7);
  EXPECT_EQ(plan_of(10, 1, 1, 3, 7).num_epochs, 1);
  EXPECT_EQ(plan_of(10, 1, 1, 1, 25).total_steps, 25);
  EXPECT_EQ(plan_of(10, 1, 1, 1, 25).num_epochs, 3);
  EXPECT_EQ(plan_of(10, 1, 1, 1, 0).total_steps, 10);
}

// The total is what the schedule is made for, so it never comes out as 0 where there is work: 260 = 13 rows x 20 epochs.
TEST(StepPlan, TotalIsFilledFromRowsAndEpochs) { EXPECT_EQ(plan_of(13, 1, 1, 20).total_steps, 260); }

TEST(StepPlan, EpochsDoneCountMicroBatches) {
  const StepPlan plan = plan_of(74, 1, 16, 3);
  EXPECT_DOUBLE_EQ(plan.epochs_after(0), 0.0);
  EXPECT_DOUBLE_EQ(plan.epochs_after(1), 16.0 / 74.0);
  EXPECT_DOUBLE_EQ(plan.epochs_after(4), 64.0 / 74.0);
  EXPECT_DOUBLE_EQ(plan.epochs_after(5), 1.0);
  EXPECT_DOUBLE_EQ(plan.epochs_after(6), 1.0 + 16.0 / 74.0);
  EXPECT_DOUBLE_EQ(plan.epochs_after(15), 3.0);
}

TEST(StepPlan, EpochsDoneOnSeveralRanksCountOneRanksBatches) {
  const StepPlan plan = plan_of(10, 4, 2, 1);  // 3 batches on the fullest rank, 2 updates
  EXPECT_DOUBLE_EQ(plan.epochs_after(1), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(plan.epochs_after(2), 1.0);
}

TEST(ResolveInterval, WholeNumbersAreSteps) {
  EXPECT_EQ(resolve_interval(1, 100), 1);
  EXPECT_EQ(resolve_interval(500, 100), 500);
}

TEST(ResolveInterval, NothingStaysNothing) { EXPECT_EQ(resolve_interval(0, 100), 0); }

TEST(ResolveInterval, SharesOfTheTotalAreRoundedUp) {
  EXPECT_EQ(resolve_interval(0.1, 100), 10);
  EXPECT_EQ(resolve_interval(0.1, 101), 11);
  EXPECT_EQ(resolve_interval(0.5, 3), 2);
  EXPECT_EQ(resolve_interval(0.0001, 100), 1);
  EXPECT_EQ(resolve_interval(0.999, 10), 10);
}

}  // namespace
}  // namespace athanor::data
