#include "core/data/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/base/error.h"
#include "tests/unit/core/data/data_case.h"

namespace athanor::data {
namespace {

using config::SamplingStrategy;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Documents of 2 to 9 tokens.
std::vector<Document> ragged(std::int64_t count) {
  std::vector<Document> documents;
  for (std::int64_t i = 0; i < count; ++i) {
    documents.push_back(
        document_of(DocumentKind::kText, static_cast<std::int32_t>(10 * i), 2 + static_cast<std::size_t>(i * 5 % 8)));
  }
  return documents;
}

struct Rig {
  Dataset dataset;
  RowSet rows;

  explicit Rig(std::int64_t count) : dataset(dataset_of(ragged(count))), rows(make_rows(dataset, {})) {}
  Loader loader(const LoaderOptions& options) const { return Loader(dataset, rows, options); }
};

StepPlan plan_for(const Loader& loader, std::int64_t world, std::int64_t accumulation, double epochs = 1) {
  return make_step_plan({loader.num_batches(), world, accumulation, epochs, -1});
}

std::vector<std::int64_t> rows_of_step(const Loader& loader, const StepPlan& plan, std::int64_t step) {
  std::vector<std::int64_t> rows;
  for (const auto& batch : loader.row_ids(plan, step)) rows.insert(rows.end(), batch.begin(), batch.end());
  return rows;
}

// ---- every row once

TEST(Loader, EveryRowIsTakenOnceInEachEpochByExactlyOneRank) {
  for (const std::int64_t count : {1, 7, 10, 24}) {
    const Rig rig(count);
    for (std::int64_t world = 1; world <= 4; ++world) {
      for (const std::int64_t micro : {1, 3}) {
        for (const auto sampling :
             {SamplingStrategy::kRandom, SamplingStrategy::kSequential, SamplingStrategy::kGroupByLength}) {
          for (const std::int64_t budget : {0, 20}) {
            SCOPED_TRACE(::testing::Message()
                         << count << " rows, ranks " << world << ", micro " << micro << ", budget " << budget);
            std::map<std::pair<std::int64_t, std::int64_t>, int> taken;  // (epoch, row)
            std::int64_t total_epochs = 3;
            for (std::int64_t rank = 0; rank < world; ++rank) {
              const Loader loader = rig.loader({.micro_batch_size = micro,
                                                .tokens_per_batch = budget,
                                                .sampling = sampling,
                                                .world_size = world,
                                                .rank = rank});
              const StepPlan plan = plan_for(loader, world, 2, static_cast<double>(total_epochs));
              for (std::int64_t step = 0; step < plan.total_steps; ++step) {
                for (const std::int64_t row : rows_of_step(loader, plan, step)) ++taken[{plan.epoch_of(step), row}];
              }
            }
            ASSERT_EQ(taken.size(), static_cast<std::size_t>(total_epochs * rig.rows.size()));
            for (const auto& [key, times] : taken)
              ASSERT_EQ(times, 1) << "epoch " << key.first << " row " << key.second;
          }
        }
      }
    }
  }
}

// Ten rows over four ranks: ranks run the same number of steps, and those without a row left have none.
TEST(Loader, RanksWithFewerRowsHaveAsManySteps) {
  const Rig rig(10);
  std::vector<std::size_t> rows_in_last_step;
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    const Loader loader = rig.loader({.micro_batch_size = 1, .world_size = 4, .rank = rank});
    const StepPlan plan = plan_for(loader, 4, 1);
    EXPECT_EQ(plan.total_steps, 3);
    rows_in_last_step.push_back(rows_of_step(loader, plan, 2).size());
  }
  EXPECT_THAT(rows_in_last_step, ElementsAre(1, 1, 0, 0));
}

TEST(Loader, OneGlobalBatchHoldsTheSameRowsOnAnyLayout) {
  const Rig rig(32);
  std::set<std::vector<std::int64_t>> seen;
  struct Layout {
    std::int64_t world, micro, accumulation;
  };
  for (const Layout layout : {Layout{1, 8, 1}, Layout{1, 2, 4}, Layout{2, 2, 2}, Layout{4, 2, 1}, Layout{4, 1, 2}}) {
    std::vector<std::int64_t> rows;
    for (std::int64_t rank = 0; rank < layout.world; ++rank) {
      const Loader loader = rig.loader({.micro_batch_size = layout.micro, .world_size = layout.world, .rank = rank});
      const StepPlan plan = plan_for(loader, layout.world, layout.accumulation);
      EXPECT_EQ(plan.total_steps, 4);
      const auto of_rank = rows_of_step(loader, plan, 1);
      rows.insert(rows.end(), of_rank.begin(), of_rank.end());
    }
    std::sort(rows.begin(), rows.end());
    seen.insert(rows);
  }
  EXPECT_EQ(seen.size(), 1u);
}

// ---- positions

TEST(Loader, ResumingAnywhereGivesTheSameBatches) {
  const Rig rig(23);
  for (const auto sampling : {SamplingStrategy::kRandom, SamplingStrategy::kGroupByLength}) {
    const LoaderOptions options{.micro_batch_size = 2, .sampling = sampling};
    const Loader whole = rig.loader(options);
    const StepPlan plan = plan_for(whole, 1, 3, 3);
    std::vector<std::vector<std::vector<std::int64_t>>> expected;
    for (std::int64_t step = 0; step < plan.total_steps; ++step) expected.push_back(whole.row_ids(plan, step));
    for (std::int64_t from = 0; from < plan.total_steps; ++from) {
      const Loader resumed = rig.loader(options);
      for (std::int64_t step = from; step < plan.total_steps; ++step) {
        ASSERT_EQ(resumed.row_ids(plan, step), expected[static_cast<std::size_t>(step)]) << "from " << from;
      }
    }
  }
}

// 64 rows, shuffled; after 20 of them the run is resumed: the other 44 come once each.
TEST(Loader, RowsLeftAfterAResumeComeOnceEach) {
  const Rig rig(64);
  const LoaderOptions options{.micro_batch_size = 4};
  std::set<std::int64_t> before, after;
  {
    const Loader loader = rig.loader(options);
    const StepPlan plan = plan_for(loader, 1, 1);
    for (std::int64_t step = 0; step < 5; ++step) {
      for (const std::int64_t row : rows_of_step(loader, plan, step)) EXPECT_TRUE(before.insert(row).second);
    }
  }
  const Loader resumed = rig.loader(options);
  const StepPlan plan = plan_for(resumed, 1, 1);
  for (std::int64_t step = 5; step < plan.total_steps; ++step) {
    for (const std::int64_t row : rows_of_step(resumed, plan, step)) {
      EXPECT_TRUE(after.insert(row).second) << row << " twice";
      EXPECT_FALSE(before.contains(row)) << row << " again";
    }
  }
  EXPECT_EQ(before.size(), 20u);
  EXPECT_EQ(after.size(), 44u);
}

// Resumed in the second epoch: its own order goes on, and the third epoch is whole.
TEST(Loader, ResumeInTheSecondEpochSkipsNothingInTheThird) {
  const Rig rig(12);
  const Loader resumed = rig.loader({.micro_batch_size = 2});
  const StepPlan plan = plan_for(resumed, 1, 1, 3);
  ASSERT_EQ(plan.updates_per_epoch, 6);
  std::set<std::int64_t> third;
  std::vector<std::int64_t> first_order, second_order;
  for (std::int64_t step = 8; step < plan.total_steps; ++step) {
    const auto rows = rows_of_step(resumed, plan, step);
    if (plan.epoch_of(step) == 2) third.insert(rows.begin(), rows.end());
  }
  EXPECT_EQ(third.size(), 12u);
  for (std::int64_t step = 0; step < 6; ++step) {
    const auto first = rows_of_step(resumed, plan, step), second = rows_of_step(resumed, plan, step + 6);
    first_order.insert(first_order.end(), first.begin(), first.end());
    second_order.insert(second_order.end(), second.begin(), second.end());
  }
  EXPECT_NE(first_order, second_order);
}

TEST(Loader, SequentialSamplingTakesRowsInOrder) {
  const Rig rig(5);
  const Loader loader = rig.loader({.micro_batch_size = 2, .sampling = SamplingStrategy::kSequential});
  const StepPlan plan = plan_for(loader, 1, 1, 2);
  EXPECT_THAT(loader.row_ids(plan, 0), ElementsAre(ElementsAre(0, 1)));
  EXPECT_THAT(loader.row_ids(plan, 2), ElementsAre(ElementsAre(4)));
  EXPECT_THAT(loader.row_ids(plan, 3), ElementsAre(ElementsAre(0, 1)));
}

TEST(Loader, ShortLastMicroBatchIsLeftOutWhenAskedFor) {
  const Rig rig(7);
  EXPECT_EQ(rig.loader({.micro_batch_size = 3}).num_batches(), 3);
  EXPECT_EQ(rig.loader({.micro_batch_size = 3, .drop_last = true}).num_batches(), 2);
  EXPECT_EQ(rig.loader({.micro_batch_size = 7, .drop_last = true}).num_batches(), 1);
}

TEST(Loader, NoWholeMicroBatchIsRefusedWithARemedy) {
  const Rig rig(3);
  try {
    rig.loader({.micro_batch_size = 4, .drop_last = true});
    FAIL();
  } catch (const base::UserError& error) {
    const base::Problem& problem = error.problems().front();
    EXPECT_EQ(problem.what, "3 rows make no whole micro-batch of 4");
    EXPECT_EQ(problem.where, "dataloader_drop_last");
    EXPECT_THAT(problem.remedy, HasSubstr("per_device_train_batch_size"));
  }
}

// ---- by length and by token budget

TEST(Loader, GroupingByLengthBeginsWithTheLongestRow) {
  const Rig rig(24);
  const Loader loader = rig.loader({.micro_batch_size = 2, .sampling = SamplingStrategy::kGroupByLength});
  const StepPlan plan = plan_for(loader, 1, 1, 3);
  for (const std::int64_t step : {std::int64_t{0}, plan.updates_per_epoch}) {
    EXPECT_EQ(rig.rows.row_tokens(rows_of_step(loader, plan, step).front()), 9);
  }
}

TEST(Loader, TokenBudgetIsKeptAndUsed) {
  const Rig rig(40);
  constexpr std::int64_t kBudget = 24;
  for (const auto sampling :
       {SamplingStrategy::kRandom, SamplingStrategy::kSequential, SamplingStrategy::kGroupByLength}) {
    const Loader loader = rig.loader({.tokens_per_batch = kBudget, .sampling = sampling});
    const StepPlan plan = plan_for(loader, 1, 1, 2);
    std::int64_t full = 0;
    for (std::int64_t step = 0; step < plan.total_steps; ++step) {
      const std::vector<MicroBatch> batches = loader.batches(plan, step);
      ASSERT_EQ(batches.size(), 1u);
      EXPECT_LE(static_cast<std::int64_t>(batches[0].tokens.size()), kBudget);
      EXPECT_GT(batches[0].tokens.size(), 0u);
      full += static_cast<std::int64_t>(batches[0].tokens.size()) > kBudget - 9 ? 1 : 0;
    }
    EXPECT_GE(full,
              plan.total_steps - 2);  // all but the last of each epoch: none has room for one more row of any length
  }
}

TEST(Loader, TokenBudgetGivesAsManyBatchesInEveryEpochInAnotherOrder) {
  const Rig rig(40);
  const Loader loader = rig.loader({.tokens_per_batch = 24});
  const StepPlan plan = plan_for(loader, 1, 1, 2);
  std::vector<std::vector<std::int64_t>> first, second;
  for (std::int64_t step = 0; step < plan.updates_per_epoch; ++step) {
    first.push_back(rows_of_step(loader, plan, step));
    second.push_back(rows_of_step(loader, plan, step + plan.updates_per_epoch));
  }
  EXPECT_NE(first, second);
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  EXPECT_EQ(first, second);
}

TEST(Loader, RowBeyondTheBudgetIsRefusedWithItsPlace) {
  const Rig rig(8);
  try {
    rig.loader({.tokens_per_batch = 8});
    FAIL();
  } catch (const base::UserError& error) {
    const base::Problem& problem = error.problems().front();
    EXPECT_EQ(problem.what, "a row has 9 tokens, tokens_per_batch is 8");
    EXPECT_EQ(problem.where, "made.jsonl:4");
    EXPECT_EQ(problem.remedy, "raise tokens_per_batch or lower model_max_length");
  }
}

// ---- what a micro-batch holds

TEST(AssembleBatch, TargetsAreShiftedWithinEachRow) {
  const Dataset dataset = dataset_of({document_of(DocumentKind::kText, 1, 3), document_of(DocumentKind::kText, 4, 5)});
  const RowSet rows = make_rows(dataset, {});
  const MicroBatch batch = assemble_batch(dataset, rows, std::vector<std::int64_t>{1, 0});
  const std::int32_t no = kNoTarget;
  EXPECT_THAT(batch.tokens, ElementsAre(4, 5, 6, 7, 8, 1, 2, 3));
  EXPECT_THAT(batch.targets, ElementsAre(5, 6, 7, 8, no, 2, 3, no));
  EXPECT_THAT(batch.positions, ElementsAre(0, 1, 2, 3, 4, 0, 1, 2));
  EXPECT_THAT(batch.sequence_starts, ElementsAre(0, 5, 8));
  EXPECT_EQ(batch.num_targets, 6);
  EXPECT_EQ(batch.num_padded_tokens, 10);
  EXPECT_THAT(batch.row_ids, ElementsAre(1, 0));
}

// [1, 2, 3] and [4, 5, 6, 7, 8] in one row: two sequences, positions from zero in both, no target across the border.
TEST(AssembleBatch, PackedDocumentsAreSequencesOfTheirOwn) {
  const Dataset dataset =
      dataset_of({document_of(DocumentKind::kTokens, 1, 3), document_of(DocumentKind::kTokens, 4, 5)});
  const RowSet rows = make_rows(
      dataset, {.max_length = 8, .packing = config::PackingMode::kOn, .sampling = SamplingStrategy::kSequential});
  ASSERT_EQ(rows.size(), 1);
  const MicroBatch batch = assemble_batch(dataset, rows, std::vector<std::int64_t>{0});
  const std::int32_t no = kNoTarget;
  EXPECT_THAT(batch.tokens, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(batch.targets, ElementsAre(2, 3, no, 5, 6, 7, 8, no));
  EXPECT_THAT(batch.positions, ElementsAre(0, 1, 2, 0, 1, 2, 3, 4));
  EXPECT_THAT(batch.sequence_starts, ElementsAre(0, 3, 8));
  EXPECT_EQ(batch.num_targets, 6);
  EXPECT_EQ(batch.num_padded_tokens, 8);
}

// A document that is changed changes its own part of the batch only.
TEST(AssembleBatch, ChangeInOnePackedDocumentLeavesTheOtherUntouched) {
  const RowOptions options{
      .max_length = 8, .packing = config::PackingMode::kOn, .sampling = SamplingStrategy::kSequential};
  const auto batch_with_first = [&](std::int32_t first) {
    const Dataset dataset =
        dataset_of({document_of(DocumentKind::kTokens, first, 3), document_of(DocumentKind::kTokens, 4, 5)});
    return assemble_batch(dataset, make_rows(dataset, options), std::vector<std::int64_t>{0});
  };
  const MicroBatch one = batch_with_first(1), other = batch_with_first(90);
  EXPECT_NE(one.tokens, other.tokens);
  for (std::size_t i = 3; i < 8; ++i) {
    EXPECT_EQ(one.tokens[i], other.tokens[i]);
    EXPECT_EQ(one.targets[i], other.targets[i]);
    EXPECT_EQ(one.positions[i], other.positions[i]);
  }
}

TEST(AssembleBatch, PiecesOfASplitDocumentBeginAtPositionZero) {
  const Dataset dataset = dataset_of({document_of(DocumentKind::kFile, 0, 7)});
  const RowSet rows = make_rows(dataset, {.max_length = 4});
  const MicroBatch batch = assemble_batch(dataset, rows, std::vector<std::int64_t>{0, 1});
  const std::int32_t no = kNoTarget;
  EXPECT_THAT(batch.tokens, ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(batch.positions, ElementsAre(0, 1, 2, 3, 0, 1, 2));
  EXPECT_THAT(batch.targets, ElementsAre(1, 2, 3, no, 5, 6, no));
}

TEST(AssembleBatch, TargetsAreThoseOfTheLabelsNotOfTheIds) {
  Document document = document_of(DocumentKind::kTokens, 1, 4, 2);
  document.labels[3] = 99;
  const Dataset dataset = dataset_of({document});
  const MicroBatch batch = assemble_batch(dataset, make_rows(dataset, {}), std::vector<std::int64_t>{0});
  EXPECT_THAT(batch.targets, ElementsAre(kNoTarget, 3, 99, kNoTarget));
  EXPECT_EQ(batch.num_targets, 2);
}

TEST(AssembleBatch, EosIsATargetWherePaddingIsEos) {
  DataCase data(R"({"text": "ab"})"
                "\n"
                R"({"text": "c"})"
                "\n");
  const formats::Tokenizer tokenizer = deepseek_like();
  ASSERT_EQ(tokenizer.pad_id(), tokenizer.eos_id());
  data.request.tokenizer = &tokenizer;
  const Dataset dataset = data.open();
  const MicroBatch batch = assemble_batch(dataset, make_rows(dataset, {}), std::vector<std::int64_t>{0, 1});
  EXPECT_THAT(batch.tokens, ElementsAre(kBos, 'a', 'b', kEos, kBos, 'c', kEos));
  EXPECT_THAT(batch.targets, ElementsAre('a', 'b', kEos, kNoTarget, 'c', kEos, kNoTarget));
}

}  // namespace
}  // namespace athanor::data
