#include "core/base/nearest.h"

#include <gtest/gtest.h>

namespace athanor::base {
namespace {

const std::vector<std::string> kNames = {"learning_rate", "weight_decay", "fp16", "bf16", "optimizer", "scheduler"};

TEST(NearestName, FindsTheLikelyMisspelling) {
  EXPECT_EQ(nearest_name("learnin_rate", kNames), "learning_rate");
  EXPECT_EQ(nearest_name("wieght_decay", kNames), "weight_decay");
  EXPECT_EQ(nearest_name("fp61", kNames), "fp16");
  EXPECT_EQ(nearest_name("lr_scheduler", kNames), "scheduler");
  EXPECT_EQ(nearest_name("optimiser", kNames), "optimizer");
}

TEST(NearestName, CaseAndSeparatorsDoNotCount) {
  EXPECT_EQ(nearest_name("Learning-Rate", kNames), "learning_rate");
  EXPECT_EQ(nearest_name("WEIGHTDECAY", kNames), "weight_decay");
}

TEST(NearestName, NothingNearGivesNothing) {
  EXPECT_EQ(nearest_name("tokenizer_path", kNames), std::nullopt);
  EXPECT_EQ(nearest_name("lr", kNames), std::nullopt);
  EXPECT_EQ(nearest_name("", kNames), std::nullopt);
  EXPECT_EQ(nearest_name("fp16", {}), std::nullopt);
}

TEST(NearestName, TieGivesTheFirst) {
  const std::vector<std::string> names = {"beta1", "beta2"};
  EXPECT_EQ(nearest_name("beta3", names), "beta1");
}

}  // namespace
}  // namespace athanor::base
