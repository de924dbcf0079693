// The model against the same mathematics on autograd in double precision, and against itself: packed, recomputed, cached.
#include "engine/model/model.h"

#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "core/base/json.h"
#include "engine/model/kv_cache.h"
#include "engine/shard/normal.h"
#include "tests/unit/engine/model/reference.h"
#include "tests/unit/engine/ops/reference.h"

namespace athanor::model {
namespace {

using ops::testing::distance;

constexpr std::int32_t kVocabulary = 96;

architecture::ModelConfig make_config(const std::string& changes) {
  base::JsonValue json = base::parse_json(
      R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 96, "hidden_size": 32,
          "intermediate_size": 56, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 4,
          "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "hidden_act": "silu", "rope_theta": 1000.0,
          "tie_word_embeddings": false})",
      "config.json");
  const base::JsonValue other = base::parse_json(changes, "changes");
  for (const base::JsonMember& member : other.members()) json.set(member.key, member.value);
  return architecture::parse_model_config(json, "config.json");
}

struct Architecture {
  const char* name;
  const char* changes;
};

// googletest prints it.
void PrintTo(const Architecture& architecture, std::ostream* out) { *out << architecture.name; }

const Architecture kPlain = {"plain", "{}"};
const Architecture kArchitectures[] = {
    kPlain,
    {"grouped", R"({"num_key_value_heads": 2})"},
    {"one_key_head", R"({"num_key_value_heads": 1})"},
    {"wide_heads", R"({"head_dim": 16})"},
    {"biases", R"({"attention_bias": true, "mlp_bias": true})"},
    {"tied", R"({"tie_word_embeddings": true})"},
    {"qwen2", R"({"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "num_key_value_heads": 2})"},
    {"qwen2_tied", R"({"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "tie_word_embeddings": true})"},
    {"linear", R"({"rope_scaling": {"type": "linear", "factor": 4.0}})"},
    {"dynamic", R"({"max_position_embeddings": 8, "rope_scaling": {"type": "dynamic", "factor": 2.0}})"},
    {"yarn", R"({"rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}})"},
    {"llama3", R"({"rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                   "high_freq_factor": 4.0, "original_max_position_embeddings": 16}})"},
};

std::vector<std::int32_t> some_tokens(std::size_t length, std::int32_t seed) {
  std::vector<std::int32_t> tokens(length);
  for (std::size_t i = 0; i < length; ++i) {
    tokens[i] = (seed * 31 + static_cast<std::int32_t>(i * i) * 7 + static_cast<std::int32_t>(i)) % kVocabulary;
  }
  return tokens;
}

// Sequences end to end; each token's target is the next one, except in the first `unlearnt` places.
data::MicroBatch pack(const std::vector<std::vector<std::int32_t>>& sequences, std::size_t unlearnt = 0) {
  data::MicroBatch batch;
  batch.sequence_starts = {0};
  for (const std::vector<std::int32_t>& sequence : sequences) {
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      batch.tokens.push_back(sequence[i]);
      batch.positions.push_back(static_cast<std::int32_t>(i));
      const bool has_target = i + 1 < sequence.size() && i >= unlearnt;
      batch.targets.push_back(has_target ? sequence[i + 1] : data::kNoTarget);
      batch.num_targets += has_target;
    }
    batch.sequence_starts.push_back(static_cast<std::int32_t>(batch.tokens.size()));
  }
  return batch;
}

data::MicroBatch ragged() {
  return pack({some_tokens(19, 1), some_tokens(7, 2), some_tokens(1, 3), some_tokens(30, 4)}, 2);
}

struct Machine {
  architecture::ModelConfig config;
  std::unique_ptr<shard::FlatStore> store;
  std::unique_ptr<Model> model;

  Machine(const Architecture& architecture, ModelOptions options = {}, std::optional<at::ScalarType> gradient = {})
      : config(make_config(architecture.changes)) {
    store = std::make_unique<shard::FlatStore>(
        architecture::list_units(config),
        shard::StoreOptions{options.compute_type, gradient.value_or(at::kFloat), at::kCPU});
    std::uint64_t stream = 0;
    for (const shard::FlatParameter& parameter : store->layout().parameters()) {
      std::vector<float> values(static_cast<std::size_t>(parameter.num_elements));
      shard::fill_normal(7, stream++, 0, values);
      const bool norm = parameter.spec.name.find("norm") != std::string::npos;
      for (float& value : values) value = norm ? 1.0F + 0.1F * value : 0.15F * value;
      store->write_master(parameter, 0, values);
    }
    model = std::make_unique<Model>(config, options);
  }

  double forward_backward(const data::MicroBatch& batch, GradientMode mode = GradientMode::kOverwrite,
                          std::uint64_t noise_stream = 0) {
    return model->forward_backward(batch, *store, 1.0, mode, noise_stream);
  }
  at::Tensor logits(const data::MicroBatch& batch) { return model->logits(batch, *store); }

  std::map<std::string, at::Tensor> gradients() {
    std::map<std::string, at::Tensor> result;
    for (std::size_t unit = 0; unit < store->layout().units().size(); ++unit) {
      const shard::FlatUnit& flat = store->layout().units()[unit];
      const std::span<const at::Tensor> views = store->gradients(unit);
      for (std::size_t i = 0; i < flat.num_parameters; ++i) {
        result[store->layout().parameters()[flat.first_parameter + i].spec.name] = views[i].clone();
      }
    }
    return result;
  }
};

void expect_same_bits(const std::map<std::string, at::Tensor>& a, const std::map<std::string, at::Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, gradient] : a) EXPECT_TRUE(gradient.equal(b.at(name))) << name;
}

class EveryArchitecture : public ::testing::TestWithParam<Architecture> {};
INSTANTIATE_TEST_SUITE_P(Architectures, EveryArchitecture, ::testing::ValuesIn(kArchitectures),
                         [](const auto& test) { return test.param.name; });

TEST_P(EveryArchitecture, LossAndEveryGradientAreThoseOfAutograd) {
  Machine machine(GetParam());
  const data::MicroBatch batch = ragged();
  const testing::Parameters leaves = testing::leaves_of(*machine.store);
  const at::Tensor expected = testing::Reference(machine.config, leaves).loss(batch);
  expected.backward();
  const double loss = machine.forward_backward(batch);
  EXPECT_NEAR(loss / expected.item<double>(), 1.0, 1e-6);
  for (const auto& [name, gradient] : machine.gradients()) {
    EXPECT_LT(distance(gradient, leaves.at(name).grad()), 2e-5) << name;
  }
}

TEST_P(EveryArchitecture, SixteenBitGradientsAreNearThoseOfAutograd) {
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    Machine machine(GetParam(), {.compute_type = type});
    const data::MicroBatch batch = ragged();
    const testing::Parameters leaves = testing::leaves_of(*machine.store);
    const at::Tensor expected = testing::Reference(machine.config, leaves).loss(batch);
    expected.backward();
    EXPECT_NEAR(machine.forward_backward(batch) / expected.item<double>(), 1.0, type == at::kHalf ? 1e-3 : 5e-3);
    for (const auto& [name, gradient] : machine.gradients()) {
      const at::Tensor want = leaves.at(name).grad();
      const double off = (gradient.to(at::kDouble) - want).norm().item<double>() / want.norm().item<double>();
      EXPECT_LT(off, type == at::kHalf ? 1e-2 : 5e-2) << name;
    }
  }
}

TEST_P(EveryArchitecture, RecomputationChangesNoBit) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    Machine keeps(GetParam(), {.compute_type = type});
    Machine recomputes(GetParam(), {.compute_type = type, .recompute = Recompute::kLayers});
    for (int micro_batch = 0; micro_batch < 2; ++micro_batch) {
      const GradientMode mode = micro_batch == 0 ? GradientMode::kOverwrite : GradientMode::kAccumulate;
      EXPECT_EQ(keeps.forward_backward(ragged(), mode), recomputes.forward_backward(ragged(), mode));
    }
    expect_same_bits(keeps.gradients(), recomputes.gradients());
    EXPECT_LT(recomputes.model->num_buffer_bytes(), keeps.model->num_buffer_bytes());
  }
}

TEST_P(EveryArchitecture, CachedGenerationGivesTheLogitsOfTheWholeSequence) {
  // Dynamic scaling rotates by the length at hand, so that a cache agrees with the whole only up to the trained length.
  const std::size_t length = std::string(GetParam().name) == "dynamic" ? 8 : 21;
  const std::vector<std::int32_t> tokens = some_tokens(length, 5);
  Machine machine(GetParam());
  const at::Tensor whole = machine.logits(pack({tokens}));
  const std::size_t prompt = length / 2;
  const std::unique_ptr<KvCache> cache = machine.model->make_cache(static_cast<std::int64_t>(length));
  for (std::size_t end = prompt; end <= length; ++end) {
    const std::size_t begin = end == prompt ? 0 : end - 1;
    const at::Tensor next =
        machine.model->decode_step(std::span(tokens).subspan(begin, end - begin), *cache, *machine.store);
    EXPECT_LT(distance(next, whole[static_cast<std::int64_t>(end) - 1]), 1e-5) << end << " tokens";
  }
}

TEST_P(EveryArchitecture, APackedDocumentNeverSeesItsNeighbours) {
  const std::vector<std::int32_t> first = some_tokens(23, 1), last = some_tokens(20, 3);
  std::vector<std::int32_t> between = some_tokens(23, 2);
  Machine machine(GetParam());
  const at::Tensor before = machine.logits(pack({first, between, last})).clone();
  for (std::int32_t& token : between) token = (token + 1) % kVocabulary;
  const at::Tensor after = machine.logits(pack({first, between, last}));
  EXPECT_TRUE(before.narrow(0, 0, 23).equal(after.narrow(0, 0, 23)));
  EXPECT_FALSE(before.narrow(0, 23, 23).equal(after.narrow(0, 23, 23)));
  EXPECT_TRUE(before.narrow(0, 46, 20).equal(after.narrow(0, 46, 20)));
}

TEST_P(EveryArchitecture, PackedDocumentsGiveTheLossAndGradientsOfSeparateOnes) {
  const std::vector<std::int32_t> first = some_tokens(23, 1), second = some_tokens(23, 2);
  Machine packed(GetParam()), separate(GetParam());
  const double together = packed.forward_backward(pack({first, second}));
  const double apart =
      separate.forward_backward(pack({first})) + separate.forward_backward(pack({second}), GradientMode::kAccumulate);
  EXPECT_NEAR(together, apart, 1e-4);
  const std::map<std::string, at::Tensor> want = separate.gradients();
  for (const auto& [name, gradient] : packed.gradients()) EXPECT_LT(distance(gradient, want.at(name)), 1e-5) << name;
}

TEST(Model, ReordersDocumentsWithoutChangingWhatIsLearnt) {
  Machine one(kPlain), other(kPlain);
  const double loss = one.forward_backward(pack({some_tokens(11, 1), some_tokens(30, 2), some_tokens(5, 3)}));
  EXPECT_NEAR(other.forward_backward(pack({some_tokens(5, 3), some_tokens(11, 1), some_tokens(30, 2)})), loss, 1e-4);
  const std::map<std::string, at::Tensor> want = one.gradients();
  for (const auto& [name, gradient] : other.gradients()) EXPECT_LT(distance(gradient, want.at(name)), 1e-5) << name;
}

TEST(Model, TwoShortDocumentsPackedGiveTheSumOfBoth) {
  const std::vector<std::int32_t> a = {1, 2, 3}, b = {4, 5, 6, 7, 8};
  Machine machine(kPlain);
  const auto loss = [&](const data::MicroBatch& batch) { return machine.model->evaluate(batch, *machine.store).loss; };
  const double separate = loss(pack({a})) + loss(pack({b}));
  EXPECT_NEAR(loss(pack({a, b})), separate, 1e-5);
  EXPECT_NEAR(loss(pack({b, a})), separate, 1e-5);
  // As one document it would be another loss.
  EXPECT_GT(std::fabs(loss(pack({{1, 2, 3, 4, 5, 6, 7, 8}})) - separate), 1.0);
}

TEST(Model, ASequenceWithoutTargetsChangesNothing) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    Machine alone(kPlain, {.compute_type = type}), beside(kPlain, {.compute_type = type});
    data::MicroBatch batch = pack({some_tokens(20, 1), some_tokens(20, 2)});
    std::fill(batch.targets.begin() + 20, batch.targets.end(), data::kNoTarget);
    batch.num_targets = 19;
    const double loss = alone.forward_backward(pack({some_tokens(20, 1)}));
    EXPECT_NEAR(beside.forward_backward(batch), loss, 1e-5 * loss);
    const std::map<std::string, at::Tensor> want = alone.gradients();
    for (const auto& [name, gradient] : beside.gradients()) {
      EXPECT_LT(distance(gradient, want.at(name)), type == at::kFloat ? 1e-5 : 1e-2) << name;
    }
  }
}

TEST(Model, AMicroBatchWithoutTargetsLeavesGradientsAlone) {
  Machine machine(kPlain);
  data::MicroBatch empty = pack({some_tokens(12, 1)}, 12);
  ASSERT_EQ(empty.num_targets, 0);
  machine.forward_backward(ragged());
  const std::map<std::string, at::Tensor> before = machine.gradients();
  EXPECT_EQ(machine.forward_backward(empty, GradientMode::kAccumulate), 0.0);
  expect_same_bits(before, machine.gradients());
  EXPECT_EQ(machine.forward_backward(empty, GradientMode::kOverwrite), 0.0);
  for (const auto& [name, gradient] : machine.gradients()) EXPECT_EQ(gradient.abs().max().item<double>(), 0.0) << name;
  EXPECT_EQ(machine.model->evaluate(empty, *machine.store).num_targets, 0);
}

TEST(Model, TheLossWeightScalesGradientsAndNotTheLoss) {
  Machine one(kPlain), weighted(kPlain);
  const double loss = one.forward_backward(ragged());
  EXPECT_EQ(weighted.model->forward_backward(ragged(), *weighted.store, 0.25, GradientMode::kOverwrite), loss);
  const std::map<std::string, at::Tensor> want = one.gradients();
  for (const auto& [name, gradient] : weighted.gradients())
    EXPECT_LT(distance(gradient, want.at(name) * 0.25), 1e-6) << name;
}

TEST(Model, EvaluationGivesTheTrainingLoss) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    Machine machine(kPlain, {.compute_type = type});
    const LossSum sum = machine.model->evaluate(ragged(), *machine.store);
    EXPECT_EQ(sum.loss, machine.forward_backward(ragged())) << at::toString(type);
    EXPECT_EQ(sum.num_targets, ragged().num_targets);
  }
}

TEST(Model, GivesTheSameBitsTwice) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    Machine one(kPlain, {.compute_type = type}), other(kPlain, {.compute_type = type});
    other.forward_backward(pack({some_tokens(50, 9)}));  // what came before leaves no trace
    EXPECT_EQ(one.forward_backward(ragged()), other.forward_backward(ragged()));
    expect_same_bits(one.gradients(), other.gradients());
  }
}

TEST(Model, EmbeddingNoiseIsOfTrainingOnlyAndAFunctionOfItsStream) {
  const ModelOptions noisy{.neftune_noise_alpha = 5.0, .noise_seed = 3};
  Machine plain(kPlain), one(kPlain, noisy), other(kPlain, noisy);
  EXPECT_EQ(one.model->evaluate(ragged(), *one.store).loss, plain.model->evaluate(ragged(), *plain.store).loss);
  const double first = one.forward_backward(ragged(), GradientMode::kOverwrite, 1);
  EXPECT_NE(first, plain.forward_backward(ragged()));
  EXPECT_NEAR(first, plain.forward_backward(ragged()), 0.2 * first);
  EXPECT_NE(first, one.forward_backward(ragged(), GradientMode::kOverwrite, 2));
  EXPECT_EQ(first, other.forward_backward(ragged(), GradientMode::kOverwrite, 1));
}

TEST(Model, KeepsItsBuffersForTheLargestBatch) {
  Machine machine(kPlain);
  machine.forward_backward(pack({some_tokens(60, 1), some_tokens(60, 2)}));
  const std::int64_t bytes = machine.model->num_buffer_bytes();
  machine.forward_backward(ragged());
  machine.forward_backward(pack({some_tokens(60, 1), some_tokens(60, 2)}));
  EXPECT_EQ(machine.model->num_buffer_bytes(), bytes);
}

}  // namespace
}  // namespace athanor::model
