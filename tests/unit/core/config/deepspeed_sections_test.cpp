// The optimizer and scheduler sections.
#include <gtest/gtest.h>

#include "core/config/deepspeed.h"

namespace athanor::config {
namespace {

DeepSpeedConfig accept(const std::string& text) {
  const DeepSpeedReading reading = read_deepspeed_text(text, "ds.json");
  for (const base::Problem& problem : reading.problems) ADD_FAILURE() << base::format_problem(problem);
  return reading.config;
}

DeepSpeedOptimizer optimizer(const std::string& section) {
  return accept("{\"optimizer\": " + section + "}").optimizer.value();
}

DeepSpeedSchedule schedule(const std::string& section) {
  return accept("{\"scheduler\": " + section + "}").scheduler.value();
}

TEST(DeepSpeedOptimizer, AdamMeansAdamWUnlessToldOtherwise) {
  EXPECT_EQ(optimizer(R"({"type": "Adam"})").values.kind, OptimizerKind::kAdamW);
  EXPECT_EQ(optimizer(R"({"type": "adam", "params": {"adam_w_mode": false}})").values.kind, OptimizerKind::kAdam);
  EXPECT_EQ(optimizer(R"({"type": "ADAMW", "params": {"adam_w_mode": false}})").values.kind, OptimizerKind::kAdamW);
  EXPECT_EQ(optimizer(R"({"type": "ADAMW"})").type, "AdamW");
}

TEST(DeepSpeedOptimizer, DefaultsAreDeepSpeedsAndDecayReachesEverything) {
  const OptimizerConfig adam = optimizer(R"({"type": "AdamW"})").values;
  EXPECT_EQ(adam.learning_rate, 1e-3);
  EXPECT_EQ(adam.beta1, 0.9);
  EXPECT_EQ(adam.beta2, 0.999);
  EXPECT_EQ(adam.epsilon, 1e-8);
  EXPECT_EQ(adam.weight_decay, 0.0);
  EXPECT_TRUE(adam.bias_correction);
  EXPECT_EQ(adam.decay_groups, DecayGroups::kAll);
  EXPECT_EQ(optimizer(R"({"type": "AdamW", "params": {"torch_adam": true}})").values.weight_decay, 0.01);
  EXPECT_EQ(optimizer(R"({"type": "Adam", "params": {"torch_adam": true, "adam_w_mode": false}})").values.weight_decay,
            0.0);
  EXPECT_EQ(optimizer(R"({"type": "Lion"})").values.beta2, 0.999);
  EXPECT_EQ(optimizer(R"({"type": "SGD"})").values.momentum, 0.0);
}

TEST(DeepSpeedOptimizer, WrittenValuesAreTakenAndAutoIsMarked) {
  const DeepSpeedOptimizer adam = optimizer(
      R"({"type": "AdamW", "params": {"lr": 2e-5, "betas": [0.8, 0.95], "eps": "auto", "weight_decay": 1, "bias_correction": false}})");
  EXPECT_EQ(adam.values.learning_rate, 2e-5);
  EXPECT_EQ(adam.values.beta1, 0.8);
  EXPECT_EQ(adam.values.beta2, 0.95);
  EXPECT_EQ(adam.values.weight_decay, 1.0);
  EXPECT_FALSE(adam.values.bias_correction);
  EXPECT_TRUE(adam.epsilon.is_auto);
  EXPECT_EQ(adam.learning_rate.where, "ds.json:1:50");
  const DeepSpeedOptimizer sgd = optimizer(R"({"type": "SGD", "params": {"momentum": 0.9, "nesterov": true}})");
  EXPECT_EQ(sgd.values.kind, OptimizerKind::kSgd);
  EXPECT_EQ(sgd.values.momentum, 0.9);
  EXPECT_TRUE(sgd.values.nesterov);
}

TEST(DeepSpeedOptimizer, ImplementationChoicesAreHarmless) {
  const DeepSpeedReading reading = read_deepspeed_text(
      R"({"optimizer": {"type": "AdamW", "legacy_fusion": true, "params": {"set_grad_none": false, "fp32_optimizer_states": true}}})",
      "ds.json");
  EXPECT_TRUE(reading.problems.empty());
  ASSERT_EQ(reading.notes.size(), 1u);
  EXPECT_EQ(reading.notes[0].keys.size(), 2u);
}

TEST(DeepSpeedSchedule, ParametersAreCheckedAndKeepAutoAndPlace) {
  const DeepSpeedSchedule warmup = schedule(
      R"({"type": "WarmupDecayLR", "params": {"warmup_num_steps": 1e2, "warmup_max_lr": "auto", "total_num_steps": 500, "warmup_type": "linear"}})");
  EXPECT_EQ(warmup.type, "WarmupDecayLR");
  EXPECT_EQ(warmup.parameters.find("warmup_num_steps")->as_integer(), 100);
  EXPECT_EQ(warmup.parameters.find("warmup_max_lr")->as_string(), "auto");
  EXPECT_EQ(warmup.parameters.find("warmup_type")->as_string(), "linear");
  EXPECT_EQ(warmup.parameters.find("total_num_steps")->position(), (base::Position{1, 121}));
  EXPECT_EQ(warmup.parameters.find("warmup_min_lr"), nullptr);
}

TEST(DeepSpeedSchedule, EveryTypeTakesItsParameters) {
  EXPECT_TRUE(schedule(R"({"type": "WarmupLR"})").parameters.members().empty());
  EXPECT_EQ(schedule(R"({"type": "WarmupLR", "params": {"warmup_max_lr": null}})").parameters.find("warmup_max_lr"),
            nullptr);
  EXPECT_EQ(
      schedule(
          R"({"type": "WarmupCosineLR", "params": {"total_num_steps": "auto", "warmup_min_ratio": 0.1, "cos_min_ratio": 0.01}})")
          .parameters.members()
          .size(),
      3u);
  EXPECT_EQ(
      schedule(R"({"type": "LRRangeTest", "params": {"lr_range_test_step_size": 5, "lr_range_test_staircase": true}})")
          .parameters.find("lr_range_test_staircase")
          ->as_bool(),
      true);
  EXPECT_EQ(
      schedule(
          R"({"type": "OneCycle", "params": {"cycle_min_lr": 1e-4, "cycle_max_lr": 1e-3, "cycle_second_step_size": 40,
      "cycle_momentum": false, "decay_step_size": 10}})")
          .parameters.find("cycle_second_step_size")
          ->as_double(),
      40.0);
}

}  // namespace
}  // namespace athanor::config
