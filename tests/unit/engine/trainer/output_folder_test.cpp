#include "engine/trainer/output_folder.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/support/temporary_folder.h"

namespace athanor::trainer {
namespace {

TEST(CheckSpace, RefusesWhenNotOneCheckpointFitsAndWarnsWhenNotAllDo) {
  const SpaceNeeds needs{.checkpoint_bytes = 1000, .num_checkpoints = 3, .model_bytes = 400};
  EXPECT_THROW(check_space("out", 1399, needs), base::EnvironmentError);
  EXPECT_NE(check_space("out", 1400, needs).find("--save_total_limit"), std::string::npos);
  EXPECT_EQ(check_space("out", 3400, needs), "");
  const SpaceNeeds model_only{.checkpoint_bytes = 1000, .num_checkpoints = 0, .model_bytes = 400};
  EXPECT_EQ(check_space("out", 400, model_only), "");
}

TEST(CheckpointsKept, CountsTheOneBeingWritten) {
  EXPECT_EQ(checkpoints_kept(10, std::nullopt), 10);
  EXPECT_EQ(checkpoints_kept(10, 2), 3);
  EXPECT_EQ(checkpoints_kept(1, 2), 1);
  EXPECT_EQ(checkpoints_kept(0, 2), 0);
}

TEST(OutputFolder, IsHeldByOneRunAtATime) {
  const testing::TemporaryFolder folder;
  config::CheckpointConfig config;
  config.output_dir = folder.file("out");
  {
    const OutputFolder held(config);
    EXPECT_THROW(OutputFolder{config}, base::UserError);
  }
  EXPECT_NO_THROW(OutputFolder{config});
}

}  // namespace
}  // namespace athanor::trainer
