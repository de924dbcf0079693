#include "engine/trainer/train_step.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/trainer/document_probe.h"
#include "engine/trainer/non_finite.h"
#include "tests/parity/trajectory.h"

namespace athanor::trainer {
namespace {

// The llama parity model: 2 layers, 512 tokens.
parity::TrajectorySetup setup(at::ScalarType type = at::kFloat) {
  parity::TrajectorySetup result;
  result.model_folder = parity::case_folder("llama");
  result.type = type;
  result.accumulation_steps = 2;
  result.optimizer = parity::reference_adamw();
  result.schedule.type = "linear";
  result.total_steps = 10;
  return result;
}

data::MicroBatch row(std::int32_t first, std::size_t length, std::size_t first_target) {
  std::vector<std::int32_t> tokens, labels;
  for (std::size_t i = 0; i < length; ++i) {
    tokens.push_back((first + static_cast<std::int32_t>(i) * 37) % 512);
    labels.push_back(i < first_target ? data::kNoTarget : tokens.back());
  }
  return parity::make_micro_batch({tokens}, {labels});
}

TEST(TrainStep, WeighsEveryTargetTokenAlikeWhateverTheMicroBatches) {
  // One target token and seven: the mean is over eight tokens, not over two means.
  const data::MicroBatch one = row(3, 5, 4), seven = row(200, 8, 1);
  ASSERT_EQ(one.num_targets, 1);
  ASSERT_EQ(seven.num_targets, 7);
  parity::Trajectory apart(setup()), alone_one(setup()), alone_seven(setup());
  const double mean = apart.step({one, seven}).loss;
  const double loss_one = alone_one.step({one}).loss, loss_seven = alone_seven.step({seven}).loss;
  EXPECT_NEAR(mean, (loss_one + 7 * loss_seven) / 8, 1e-5);
}

TEST(TrainStep, AMicroBatchWithoutTargetsAddsNothing) {
  const data::MicroBatch full = row(3, 9, 2), empty = row(50, 6, 6);
  ASSERT_EQ(empty.num_targets, 0);
  for (const auto& batch : {std::vector{full, empty}, std::vector{empty, full}}) {
    parity::Trajectory with(setup()), without(setup());
    EXPECT_EQ(with.step(batch).loss, without.step({full}).loss);
    EXPECT_EQ(with.all_weights(), without.all_weights());
  }
}

TEST(TrainStep, ABatchWithoutTargetsIsNotAStepOfTheOptimizer) {
  const data::MicroBatch empty = row(50, 6, 6);
  parity::Trajectory trajectory(setup());
  const std::vector<float> before = trajectory.all_weights();
  const parity::TrajectoryStep step = trajectory.step({empty, empty});
  EXPECT_EQ(step.action, StepAction::kSkipNoTargets);
  EXPECT_EQ(step.loss, 0.0);
  EXPECT_EQ(trajectory.all_weights(), before);
  // The next step is the first update: linear without warm-up begins at the full rate.
  EXPECT_EQ(trajectory.step({row(3, 9, 2)}).learning_rate, 3e-3);
  EXPECT_NE(trajectory.all_weights(), before);
}

TEST(TrainStep, AnOverflowChangesNothingButTheScale) {
  parity::TrajectorySetup fp16 = setup(at::kHalf);
  fp16.precision.compute = config::Precision::kFloat16;
  fp16.precision.scaler.initial_scale = 0x1p40;
  parity::Trajectory trajectory(fp16);
  const std::vector<float> before = trajectory.all_weights();
  for (int i = 0; i < 3; ++i) {
    const parity::TrajectoryStep step = trajectory.step({row(3, 9, 2)});
    EXPECT_EQ(step.action, StepAction::kSkipOverflow);
    EXPECT_TRUE(std::isfinite(step.loss));
    EXPECT_EQ(step.learning_rate, 3e-3) << "the schedule must not move";
  }
  EXPECT_EQ(trajectory.all_weights(), before);
}

struct Loaded {
  explicit Loaded(at::ScalarType type)
      : folder(architecture::open_model_folder(parity::case_folder("llama"))),
        store(architecture::list_units(folder.config), {.compute_type = type, .gradient_type = type}),
        options{.compute_type = type},
        model(folder.config, options) {
    checkpoint::load_weights(store, architecture::open_model_weights(folder), folder.path);
  }
  void fill(const std::string& name, float value) {
    const shard::FlatParameter& parameter = *store.layout().find(name);
    store.write_master(parameter, 0, std::vector<float>(static_cast<std::size_t>(parameter.num_elements), value));
  }

  architecture::ModelFolder folder;
  shard::FlatStore store;
  model::ModelOptions options;
  model::Model model;
};

NonFiniteEvidence evidence_of(Loaded& loaded, double loss_weight) {
  const std::vector<data::MicroBatch> batch = {row(3, 9, 2)};
  loaded.model.forward_backward(batch[0], loaded.store, loss_weight, model::GradientMode::kOverwrite);
  return find_non_finite(loaded.folder.config, loaded.options, loaded.store, batch,
                         optim::gradient_norms(loaded.store, 1.0));
}

TEST(FindNonFinite, TellsWeightsForwardAndScaledGradientsApart) {
  Loaded scaled(at::kHalf);
  EXPECT_EQ(evidence_of(scaled, 0x1p40).origin, NonFiniteOrigin::kBackward);

  for (const char* layer : {"0", "1"}) {
    Loaded forward(at::kHalf);
    forward.fill(std::string("model.layers.") + layer + ".mlp.down_proj.weight", 60000.0f);
    const NonFiniteEvidence evidence = evidence_of(forward, 1.0);
    EXPECT_EQ(evidence.origin, NonFiniteOrigin::kForward);
    EXPECT_EQ(evidence.place, std::string("the output of layers.") + layer);
  }

  Loaded weights(at::kHalf);
  weights.fill("model.layers.1.self_attn.k_proj.weight", 1e6f);  // infinity in fp16
  const NonFiniteEvidence evidence = evidence_of(weights, 1.0);
  EXPECT_EQ(evidence.origin, NonFiniteOrigin::kWeights);
  EXPECT_EQ(evidence.place, "model.layers.1.self_attn.k_proj.weight");
}

TEST(DocumentProbe, ProvesPairsAndHasNothingToSayOfOne) {
  Loaded loaded(at::kBFloat16);
  EXPECT_EQ(probe_documents(loaded.model, loaded.store, row(3, 9, 2), 512), ProbeResult::kNothingToProve);
  const data::MicroBatch pair = parity::make_micro_batch({{5, 9, 77, 12}, {5, 9, 301}}, {{5, 9, 77, 12}, {5, 9, 301}});
  EXPECT_EQ(probe_documents(loaded.model, loaded.store, pair, 512), ProbeResult::kProven);
}

}  // namespace
}  // namespace athanor::trainer
