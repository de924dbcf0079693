#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "core/base/fault_point.h"
#include "core/base/file.h"
#include "engine/checkpoint/loader.h"
#include "engine/checkpoint/retention.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/engine/checkpoint/small_run.h"

namespace athanor::checkpoint {
namespace {

namespace fs = std::filesystem;
using athanor::testing::TemporaryFolder;
using formats::Dtype;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct SavedAs {
  at::ScalarType compute_type;
  Dtype weight_type;
};

class RoundTrip : public ::testing::TestWithParam<SavedAs> {};
INSTANTIATE_TEST_SUITE_P(Types, RoundTrip,
                         ::testing::Values(SavedAs{at::kFloat, Dtype::kFloat32},
                                           SavedAs{at::kBFloat16, Dtype::kBfloat16},
                                           SavedAs{at::kBFloat16, Dtype::kFloat32},
                                           SavedAs{at::kBFloat16, Dtype::kFloat16}, SavedAs{at::kHalf, Dtype::kFloat16},
                                           SavedAs{at::kHalf, Dtype::kBfloat16}));

TEST_P(RoundTrip, GivesEveryMasterAndMomentBackBitForBit) {
  const TemporaryFolder folder;
  SmallRun run(GetParam().compute_type);
  run.train(3);
  write_checkpoint(run.request(folder.file("checkpoint-3"), 3, GetParam().weight_type));
  const Search search = find_newest(folder.path());
  ASSERT_TRUE(search.found);
  EXPECT_EQ(search.found->manifest.step, 3);
  EXPECT_EQ(search.found->manifest.state.find("position")->as_integer(), 17);
  SmallRun resumed(GetParam().compute_type);
  check_same_model(search.found->folder, search.found->manifest, resumed.store, resumed.optimizer);
  load_checkpoint(search.found->folder, search.found->manifest, resumed.store, resumed.optimizer);
  EXPECT_EQ(resumed.bits(), run.bits());
  EXPECT_EQ(resumed.optimizer.num_steps(), 3);
  // And under another compute type: the masters are the same.
  SmallRun widened(at::kFloat);
  load_checkpoint(search.found->folder, search.found->manifest, widened.store, widened.optimizer);
  EXPECT_EQ(widened.bits(), run.bits());
}

TEST(WeightFile, HoldsTheComputeCopyUnderHuggingFaceNames) {
  const TemporaryFolder folder;
  SmallRun run(at::kBFloat16);
  run.train(2);
  write_checkpoint(run.request(folder.file("checkpoint-2"), 2, Dtype::kBfloat16));
  const formats::WeightFiles files = formats::WeightFiles::open(folder.file("checkpoint-2"));
  EXPECT_EQ(files.tensors().size(), 5u);
  const auto tensor = files.find("lm_head.weight");
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->info->shape, (std::vector<std::int64_t>{40, 16}));
  EXPECT_EQ(std::memcmp(tensor->bytes().data(), run.store.parameters(2)[1].data_ptr(), tensor->bytes().size()), 0);
}

TEST(FindNewest, FallsBackWhateverPartIsTornOrChanged) {
  const TemporaryFolder folder;
  SmallRun run(at::kFloat);
  run.train(1);
  write_checkpoint(run.request(folder.file("checkpoint-9"), 9, Dtype::kFloat32));
  write_checkpoint(run.request(folder.file("checkpoint-10"), 10, Dtype::kFloat32));
  ASSERT_EQ(find_newest(folder.path()).found->manifest.step, 10);
  const fs::path newest = folder.file("checkpoint-10");
  for (const fs::directory_entry& entry : fs::directory_iterator(newest)) {
    const std::string path = entry.path().string();
    const std::string whole = base::read_file(path);
    std::string flipped = whole;
    flipped[whole.size() / 2] ^= 1;
    for (const std::string& bad : {whole.substr(0, whole.size() - 2), std::string(), flipped}) {
      base::write_scratch(path, bad);
      const Search search = find_newest(folder.path());
      ASSERT_TRUE(search.found) << path;
      EXPECT_EQ(search.found->manifest.step, 9) << path;
      ASSERT_EQ(search.passed_over.size(), 1u);
      EXPECT_THAT(search.passed_over[0], HasSubstr("checkpoint-10 is not whole ("));
    }
    fs::remove(path);
    EXPECT_EQ(find_newest(folder.path()).found->manifest.step, 9) << path;
    base::write_scratch(path, whole);
  }
  EXPECT_EQ(find_newest(folder.path()).found->manifest.step, 10);
}

TEST(WriteCheckpoint, AFullDiskLeavesTheOldOnesAndNoHalfOne) {
  const TemporaryFolder folder;
  SmallRun run(at::kFloat);
  run.train(1);
  write_checkpoint(run.request(folder.file("checkpoint-1"), 1, Dtype::kFloat32));
  for (const char* point :
       {"checkpoint_begin", "checkpoint_mid_write", "checkpoint_before_manifest", "checkpoint_before_rename"}) {
    base::arm_fault_points(std::string(point) + "=enospc");
    EXPECT_THROW(write_checkpoint(run.request(folder.file("checkpoint-2"), 2, Dtype::kFloat32)),
                 base::EnvironmentError);
    EXPECT_EQ(list_checkpoints(folder.path()), std::vector<std::int64_t>{1});
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1) << point;
  }
  base::arm_fault_points("");
  // Saving the same step again replaces it.
  run.train(1);
  write_checkpoint(run.request(folder.file("checkpoint-1"), 1, Dtype::kFloat32));
  SmallRun resumed(at::kFloat);
  load_checkpoint(folder.file("checkpoint-1"), find_newest(folder.path()).found->manifest, resumed.store,
                  resumed.optimizer);
  EXPECT_EQ(resumed.bits(), run.bits());
}

TEST(FindNewest, DoesNotResumeFromAModelWithoutItsOptimizer) {
  const TemporaryFolder folder;
  SmallRun run(at::kFloat);
  SaveRequest request = run.request(folder.file("checkpoint-5"), 5, Dtype::kFloat32);
  request.optimizer.clear();
  request.manifest.contents = Contents::kModelOnly;
  write_checkpoint(request);
  const Search search = find_newest(folder.path());
  EXPECT_FALSE(search.found);
  EXPECT_THAT(search.passed_over, ElementsAre("checkpoint-5 holds the model only"));
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const base::UserError& error) {
    EXPECT_FALSE(error.problems()[0].remedy.empty());
    return error.what();
  }
  return "nothing was thrown";
}

TEST(CheckSameModel, NamesTheFirstParameterThatDiffers) {
  const TemporaryFolder folder;
  SmallRun run(at::kFloat);
  write_checkpoint(run.request(folder.file("checkpoint-1"), 1, Dtype::kFloat32));
  const FoundCheckpoint found = *find_newest(folder.path()).found;
  auto other_units = small_units();
  other_units[1].parameters[0].shape = {32, 16};
  SmallRun other(at::kFloat, other_units);
  EXPECT_THAT(message_of([&] { check_same_model(found.folder, found.manifest, other.store, other.optimizer); }),
              HasSubstr("model.layers.0.mlp.up_proj.weight is [24, 16] there and [32, 16] here"));
  other_units = small_units();
  other_units[2].parameters.pop_back();
  SmallRun tied(at::kFloat, other_units);
  EXPECT_THAT(message_of([&] { check_same_model(found.folder, found.manifest, tied.store, tied.optimizer); }),
              HasSubstr("lm_head.weight"));
  FoundCheckpoint sgd = found;
  sgd.manifest.optimizer_kind = "sgd";
  EXPECT_THAT(message_of([&] { check_same_model(sgd.folder, sgd.manifest, run.store, run.optimizer); }),
              HasSubstr("adamw"));
}

TEST(LoadCheckpoint, RefusesWeightsThatAreNotFiniteByName) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    const TemporaryFolder folder;
    SmallRun run(at::kFloat);
    run.store.compute(1)[3].fill_(bad);
    write_checkpoint(run.request(folder.file("checkpoint-1"), 1, Dtype::kFloat32));
    const FoundCheckpoint found = *find_newest(folder.path()).found;
    SmallRun resumed(at::kFloat);
    EXPECT_THAT(message_of([&] { load_checkpoint(found.folder, found.manifest, resumed.store, resumed.optimizer); }),
                HasSubstr("model.layers.0.mlp.up_proj.weight"));
  }
}

TEST(WriteModelFolder, ReplacesShardsOfAnEarlierSave) {
  const TemporaryFolder folder;
  SmallRun run(at::kFloat);
  run.train(1);
  const auto weights = weight_sources(run.store, Dtype::kFloat16, BfloatRounding::kTiesToEven);
  write_model_folder(folder.path(), weights, {{"config.json", "{\"a\": 1}"}}, 1000);
  EXPECT_TRUE(fs::exists(folder.file("model.safetensors.index.json")));
  EXPECT_EQ(formats::WeightFiles::open(folder.path()).tensors().size(), 5u);
  write_model_folder(folder.path(), weights, {{"config.json", "{}"}});
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.path()))
    names.push_back(entry.path().filename());
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("config.json", "model.safetensors"));
}

TEST(DecideRetention, NeverRemovesTheNewestOrTheBest) {
  const std::vector<std::int64_t> steps = {10, 20, 30, 40};
  EXPECT_THAT(decide_retention(steps, 2, std::nullopt), ElementsAre(10, 20));
  EXPECT_THAT(decide_retention(steps, 2, 10), ElementsAre(20, 30));
  EXPECT_THAT(decide_retention(steps, 1, 10), ElementsAre(20, 30));  // the best and the newest both stay
  EXPECT_THAT(decide_retention(steps, 1, 40), ElementsAre(10, 20, 30));
  EXPECT_THAT(decide_retention(steps, 4, std::nullopt), ElementsAre());
  EXPECT_THAT(decide_retention(steps, std::nullopt, std::nullopt), ElementsAre());
  EXPECT_THAT(decide_retention(steps, 0, std::nullopt), ElementsAre());
  EXPECT_THAT(decide_retention({}, 1, std::nullopt), ElementsAre());
}

TEST(Checkpoints, AreFoundByNameAndLeftoversAreNot) {
  const TemporaryFolder folder;
  for (const char* name :
       {"checkpoint-5", "checkpoint-12", "checkpoint-7.tmp-athanor", "checkpoint-", "checkpoint-x1", "runs"}) {
    fs::create_directories(folder.file(name));
  }
  base::write_scratch(folder.file("checkpoint-99"), "a file");
  EXPECT_THAT(list_checkpoints(folder.path()), ElementsAre(5, 12));
  remove_leftovers(folder.path());
  EXPECT_FALSE(fs::exists(folder.file("checkpoint-7.tmp-athanor")));
  remove_checkpoint(folder.file("checkpoint-5"));
  EXPECT_THAT(list_checkpoints(folder.path()), ElementsAre(12));
  EXPECT_TRUE(list_checkpoints(folder.file("nowhere")).empty());
}

}  // namespace
}  // namespace athanor::checkpoint
