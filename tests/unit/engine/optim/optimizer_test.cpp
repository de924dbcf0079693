#include "engine/optim/optimizer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/json.h"
#include "engine/optim/fused_update.h"
#include "engine/optim/tensor_update.h"
#include "engine/shard/master_weights.h"

namespace athanor::optim {
namespace {

using base::JsonValue;
using config::OptimizerConfig;
using config::OptimizerKind;

const JsonValue& reference() {
  static const JsonValue value = base::parse_json_file(ATHANOR_SOURCE_DIR "/tests/parity/optimizers/expected.json");
  return value;
}

std::vector<float> floats(const JsonValue& list) {
  std::vector<float> values;
  for (const JsonValue& item : list.items()) values.push_back(static_cast<float>(item.as_double()));
  return values;
}

// Two units, so that the pass crosses a unit's border and its padding.
std::vector<architecture::UnitSpec> units() {
  std::vector<architecture::UnitSpec> result(2);
  for (const base::JsonMember& shape : reference().find("shapes")->members()) {
    architecture::ParameterSpec spec;
    spec.name = shape.key;
    for (const JsonValue& size : shape.value.items()) spec.shape.push_back(size.as_integer());
    result[shape.key == "embed.weight" ? 0 : 1].parameters.push_back(spec);
  }
  return result;
}

OptimizerConfig config_of(const JsonValue& json) {
  const auto number = [&](const char* key, double otherwise) {
    const JsonValue* found = json.find(key);
    return found == nullptr ? otherwise : found->as_double();
  };
  const auto flag = [&](const char* key, bool otherwise) {
    const JsonValue* found = json.find(key);
    return found == nullptr ? otherwise : found->as_bool();
  };
  OptimizerConfig config;
  const std::string kind = json.find("kind")->as_string();
  config.kind = kind == "adamw"  ? OptimizerKind::kAdamW
                : kind == "adam" ? OptimizerKind::kAdam
                : kind == "sgd"  ? OptimizerKind::kSgd
                                 : OptimizerKind::kLion;
  config.beta1 = number("beta1", 0.0);
  config.beta2 = number("beta2", 0.0);
  config.epsilon = number("epsilon", 0.0);
  config.weight_decay = number("weight_decay", 0.0);
  config.momentum = number("momentum", 0.0);
  config.dampening = number("dampening", 0.0);
  config.nesterov = flag("nesterov", false);
  config.bias_correction = flag("bias_correction", true);
  config.decay_groups = flag("groups", false) ? config::DecayGroups::kHuggingFace : config::DecayGroups::kAll;
  return config;
}

void set_gradients(shard::FlatStore& store, std::size_t step, float scale) {
  for (const shard::FlatParameter& parameter : store.layout().parameters()) {
    std::vector<float> values = floats(reference().find("gradients")->find(parameter.spec.name)->items()[step]);
    for (float& value : values) value *= scale;
    store.gradient(parameter.unit)
        .narrow(0, parameter.offset, parameter.num_elements)
        .copy_(at::from_blob(values.data(), {parameter.num_elements}, at::kFloat));
  }
}

void expect_close(const std::vector<float>& got, const std::vector<float>& expected, double tolerance,
                  const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], expected[i], tolerance * (1.0 + std::fabs(expected[i]))) << what << " element " << i;
  }
}

class OptimizerParity : public ::testing::TestWithParam<std::string> {};

// fp32 arithmetic in the same order: a few units in the last place remain, from torch's fused multiply-add in lerp.
constexpr double kTolerance = 3e-7;

TEST_P(OptimizerParity, FiveStepsAgreeWithTorch) {
  const JsonValue& expected = *reference().find("cases")->find(GetParam());
  shard::FlatStore store(units(), {});
  for (const shard::FlatParameter& parameter : store.layout().parameters()) {
    store.write_master(parameter, 0, floats(*reference().find("start")->find(parameter.spec.name)));
  }
  Optimizer optimizer(config_of(*expected.find("config")), store);
  const std::vector<JsonValue>& rates = reference().find("learning_rates")->items();
  for (std::size_t step = 0; step < rates.size(); ++step) {
    // Gradients arrive scaled, as a loss scaler leaves them.
    set_gradients(store, step, 1024.0f);
    optimizer.step({.learning_rate = rates[step].as_double(), .gradient_factor = 1.0 / 1024.0});
    for (const shard::FlatParameter& parameter : store.layout().parameters()) {
      std::vector<float> got(static_cast<std::size_t>(parameter.num_elements));
      store.read_master(parameter, 0, got);
      const JsonValue& values = *expected.find("parameters")->items()[step].find(parameter.spec.name);
      expect_close(got, floats(values), kTolerance, parameter.spec.name + " after step " + std::to_string(step + 1));
    }
  }
  EXPECT_EQ(optimizer.num_steps(), 5);
  for (const shard::FlatParameter& parameter : store.layout().parameters()) {
    const JsonValue& states = *expected.find("final_states")->find(parameter.spec.name);
    ASSERT_EQ(static_cast<std::size_t>(optimizer.num_states()), states.members().size());
    for (int i = 0; i < optimizer.num_states(); ++i) {
      const at::Tensor flat = optimizer.state(parameter.unit, i).narrow(0, parameter.offset, parameter.num_elements);
      const std::vector<float> got(flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
      const std::string name = state_name(optimizer.config(), i);
      expect_close(got, floats(*states.find(name)), kTolerance, parameter.spec.name + " " + name);
    }
  }
}

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const base::JsonMember& member : reference().find("cases")->members()) names.push_back(member.key);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Cases, OptimizerParity, ::testing::ValuesIn(case_names()),
                         [](const auto& test) { return test.param; });

std::vector<OptimizerConfig> one_of_each() {
  std::vector<OptimizerConfig> configs;
  for (const std::string& name : case_names())
    configs.push_back(config_of(*reference().find("cases")->find(name)->find("config")));
  return configs;
}

constexpr std::int64_t kElements = 3 * 16 * 1024 + 77;  // several threads, a ragged last block

UnitSlice random_slice(const OptimizerConfig& config, at::ScalarType type) {
  const at::Tensor master = at::randn({kElements}, at::kFloat);
  UnitSlice slice;
  slice.gradient = at::randn({kElements}, at::kFloat).to(type);
  slice.compute = type == at::kFloat ? master : master.to(type);
  if (type == at::kHalf) slice.master = master;
  if (type == at::kBFloat16) {
    slice.residual = at::zeros({kElements}, at::kShort);
    shard::split_bfloat16(master.data_ptr<float>(), static_cast<std::uint16_t*>(slice.compute.data_ptr()),
                          slice.residual.data_ptr<std::int16_t>(), kElements);
  }
  for (int i = 0; i < num_states(config); ++i) slice.states.push_back(at::randn({kElements}, at::kFloat).abs());
  return slice;
}

UnitSlice copy_of(UnitSlice slice) {
  for (at::Tensor* tensor : {&slice.gradient, &slice.compute, &slice.master, &slice.residual}) {
    if (tensor->defined()) *tensor = tensor->clone();
  }
  for (at::Tensor& state : slice.states) state = state.clone();
  return slice;
}

at::Tensor master_of(const UnitSlice& slice) {
  if (slice.master.defined()) return slice.master;
  if (!slice.residual.defined()) return slice.compute;
  at::Tensor master = at::zeros({kElements}, at::kFloat);
  shard::join_bfloat16(static_cast<const std::uint16_t*>(slice.compute.data_ptr()),
                       slice.residual.data_ptr<std::int16_t>(), master.data_ptr<float>(), kElements);
  return master;
}

float largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return (a.to(at::kFloat) - b.to(at::kFloat)).abs().max().item<float>();
}

// The blockwise pass and the whole-tensor statement of the same formulas, over every way to keep the master.
TEST(FusedUpdate, AgreesWithTheTensorFormForEveryRuleAndMaster) {
  for (const OptimizerConfig& config : one_of_each()) {
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
      const UnitSlice fused = random_slice(config, type);
      const UnitSlice plain = copy_of(fused);
      const RuleConstants constants = rule_constants(config, configured_momenta(config), 1e-2, 3, Decay::kOn);
      update_fused(fused, constants, 0.5f);
      update_with_tensors(plain, constants, 0.5f);
      EXPECT_LE(largest_difference(master_of(fused), master_of(plain)), 2e-6f);
      // Copies of masters that differ in the last place may round to neighbours.
      EXPECT_LE(largest_difference(fused.compute, plain.compute), 0.02f);
      EXPECT_LE(largest_difference(fused.compute, master_of(fused)), 0.02f);
      for (std::size_t i = 0; i < fused.states.size(); ++i) {
        EXPECT_LE(largest_difference(fused.states[i], plain.states[i]), 2e-6f);
      }
    }
  }
}

// bf16 cannot hold 1 - 6e-4: with the master kept, a hundred such steps move the weight to 0.94 all the same.
TEST(Optimizer, SmallUpdatesMoveBfloatWeights) {
  const std::vector<architecture::UnitSpec> one = {{"all", {{"w.weight", {64}}}}};
  shard::FlatStore store(one, {.compute_type = at::kBFloat16, .gradient_type = at::kBFloat16});
  const shard::FlatParameter& parameter = store.layout().parameters()[0];
  store.write_master(parameter, 0, std::vector<float>(64, 1.0f));
  OptimizerConfig config;
  config.kind = OptimizerKind::kSgd;
  Optimizer optimizer(config, store);
  store.gradient(0).fill_(1.0);
  for (int i = 0; i < 100; ++i) optimizer.step({.learning_rate = 6e-4});
  std::vector<float> master(64);
  store.read_master(parameter, 0, master);
  EXPECT_NEAR(master[5], 0.94f, 1e-5f);
  EXPECT_NEAR(store.compute(0)[5].item<float>(), 0.94f, 0.004f);
}

TEST(Optimizer, PaddingStaysZeroUnderEveryRule) {
  for (const OptimizerConfig& config : one_of_each()) {
    shard::FlatStore store(units(), {});
    Optimizer optimizer(config, store);
    for (std::size_t step = 0; step < 3; ++step) {
      set_gradients(store, step, 1.0f);
      optimizer.step({.learning_rate = 1e-2});
    }
    for (std::size_t u = 0; u < 2; ++u) {
      const shard::FlatUnit& unit = store.layout().units()[u];
      const shard::FlatParameter& last = store.layout().parameters()[unit.first_parameter + unit.num_parameters - 1];
      const std::int64_t used = last.offset + last.num_elements;
      ASSERT_GT(unit.num_elements, used);
      EXPECT_EQ(store.compute(u).narrow(0, used, unit.num_elements - used).abs().max().item<float>(), 0.0f);
    }
  }
}

TEST(Optimizer, OneCycleMomentaReplaceTheConfiguredOnes) {
  OptimizerConfig config;
  const RuleConstants constants = rule_constants(config, {0.8, 0.99}, 1e-3, 2, Decay::kOff);
  EXPECT_FLOAT_EQ(constants.beta2, 0.99f);
  EXPECT_FLOAT_EQ(constants.step_size, static_cast<float>(1e-3 / (1 - 0.64)));
}

}  // namespace
}  // namespace athanor::optim
