#include "engine/shard/flat_layout.h"

#include <gtest/gtest.h>

namespace athanor::shard {
namespace {

using architecture::Initializer;
using architecture::UnitSpec;

std::vector<UnitSpec> two_units() {
  return {{"layers.0",
           {{"model.layers.0.self_attn.q_proj.weight", {8, 8}},
            {"model.layers.0.self_attn.q_proj.bias", {8}, Initializer::kZeros},
            {"model.layers.0.input_layernorm.weight", {8}, Initializer::kOnes},
            {"model.layers.0.mlp.up_proj.weight", {3, 8}}}},
          {"head", {{"model.norm.weight", {8}, Initializer::kOnes}, {"lm_head.weight", {16, 8}}}}};
}

TEST(FlatLayout, PlacesParametersWithoutGapsAndPadsTheUnit) {
  const FlatLayout layout(two_units(), 1);
  ASSERT_EQ(layout.parameters().size(), 6u);
  EXPECT_EQ(layout.parameters()[1].offset, 64);
  EXPECT_EQ(layout.parameters()[3].offset, 80);
  EXPECT_EQ(layout.units()[0].num_elements, 128);  // 104 used
  EXPECT_EQ(layout.units()[1].num_elements, 192);  // 136 used
  EXPECT_EQ(layout.num_elements(), 320);
  EXPECT_EQ(layout.num_parameter_elements(), 240);
  ASSERT_NE(layout.find("lm_head.weight"), nullptr);
  EXPECT_EQ(layout.find("lm_head.weight")->unit, 1u);
  EXPECT_EQ(layout.find("lm_head.bias"), nullptr);
}

TEST(FlatLayout, SlicesOfAShardedUnitAreAlignedAndCoverIt) {
  for (const std::int64_t world_size : {1, 2, 3, 5}) {
    const FlatLayout layout(two_units(), world_size);
    for (const FlatUnit& unit : layout.units()) {
      std::int64_t at = 0;
      for (std::int64_t rank = 0; rank < world_size; ++rank) {
        const ElementRange slice = owned_range(Ownership::kSharded, unit.num_elements, rank, world_size);
        EXPECT_EQ(slice.begin, at);
        EXPECT_EQ(slice.begin % kUnitAlignment, 0);
        at = slice.end;
      }
      EXPECT_EQ(at, unit.num_elements);
      EXPECT_EQ(owned_range(Ownership::kReplicated, unit.num_elements, 0, world_size),
                (ElementRange{0, unit.num_elements}));
    }
  }
}

TEST(DecaySegments, ExemptBiasesAndNormsAsHuggingFaceDoes) {
  const FlatLayout layout(two_units(), 1);
  const std::vector<DecaySegment> expected = {{{0, 64}, true}, {{64, 80}, false}, {{80, 128}, true}};
  EXPECT_EQ(decay_segments(layout, 0, DecayRule::kNotBiasesAndNorms), expected);
  const std::vector<DecaySegment> everything = {{{0, 128}, true}};
  EXPECT_EQ(decay_segments(layout, 0, DecayRule::kEverything), everything);
}

TEST(StagePolicies, ShardOneRoleMoreAtEachStage) {
  int sharded_before = -1;
  for (const StagePolicy& row : kStagePolicies) {
    const int sharded = (row.parameters == Ownership::kSharded) + (row.gradients == Ownership::kSharded) +
                        (row.optimizer_state == Ownership::kSharded);
    EXPECT_EQ(sharded, sharded_before + 1) << row.name;
    EXPECT_EQ(row.stage, sharded);
    sharded_before = sharded;
  }
}

}  // namespace
}  // namespace athanor::shard
