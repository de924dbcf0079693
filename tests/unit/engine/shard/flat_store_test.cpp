#include "engine/shard/flat_store.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/base/random.h"
#include "engine/shard/initialize.h"
#include "engine/shard/normal.h"

namespace athanor::shard {
namespace {

using architecture::Initializer;
using architecture::UnitSpec;

std::vector<UnitSpec> small_model() {
  return {{"embedding", {{"model.embed_tokens.weight", {96, 64}}}},
          {"head", {{"model.norm.weight", {64}, Initializer::kOnes}, {"lm_head.weight", {96, 64}}}}};
}

std::vector<float> read(const FlatStore& store, const std::string& name) {
  const FlatParameter* parameter = store.layout().find(name);
  std::vector<float> values(static_cast<std::size_t>(parameter->num_elements));
  store.read_master(*parameter, 0, values);
  return values;
}

class EveryComputeType : public ::testing::TestWithParam<at::ScalarType> {};
INSTANTIATE_TEST_SUITE_P(Types, EveryComputeType, ::testing::Values(at::kFloat, at::kBFloat16, at::kHalf));

TEST_P(EveryComputeType, KeepsTheMasterExactAndTheCopyRounded) {
  FlatStore store(small_model(), {.compute_type = GetParam(), .gradient_type = at::kFloat});
  const FlatParameter& head = *store.layout().find("lm_head.weight");
  std::vector<float> values(static_cast<std::size_t>(head.num_elements));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(0.37f * static_cast<float>(i)) * 0.1f;
  store.write_master(head, 0, values);
  EXPECT_EQ(read(store, "lm_head.weight"), values);
  const at::Tensor view = store.parameters(1)[1].to(at::kFloat).contiguous();
  ASSERT_EQ(view.numel(), head.num_elements);
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(view.data_ptr<float>()[i], values[i], std::fabs(values[i]) / 256 + 1e-7f) << i;
  }
  // The neighbour was not touched.
  EXPECT_EQ(read(store, "model.norm.weight"), std::vector<float>(64, 0.0f));
}

TEST_P(EveryComputeType, ViewsAreTheFlatBuffer) {
  FlatStore store(small_model(), {.compute_type = GetParam(), .gradient_type = GetParam()});
  EXPECT_EQ(store.parameters(1)[1].data_ptr(),
            static_cast<char*>(store.compute(1).data_ptr()) + 64 * store.compute(1).element_size());
  store.gradients(1)[0].fill_(2.0);
  EXPECT_EQ(store.gradient(1).narrow(0, 0, 64).sum().item<double>(), 128.0);
  EXPECT_EQ(store.gradients(1)[0].scalar_type(), GetParam());
}

TEST(FlatStore, MasterAndCopyTakeFourBytesInBfloat16) {
  const std::int64_t elements = FlatLayout(small_model(), 1).num_elements();
  EXPECT_EQ(FlatStore(small_model(), {.compute_type = at::kFloat}).num_bytes(), 4 * elements);
  EXPECT_EQ(FlatStore(small_model(), {.compute_type = at::kBFloat16}).num_bytes(), 4 * elements);
  EXPECT_EQ(FlatStore(small_model(), {.compute_type = at::kHalf}).num_bytes(), 6 * elements);
}

TEST(InitializeWeights, DependsOnSeedAndNameOnly) {
  architecture::ModelConfig config;
  config.vocab_size = 96;
  config.hidden_size = 64;
  config.initializer_range = 0.02;
  config.pad_token_id = 3;
  FlatStore whole(small_model(), {});
  initialize_weights(whole, config, 42);
  // The same parameters in one unit, in another order, rounded to another type.
  const std::vector<UnitSpec> other = {{"all",
                                        {{"lm_head.weight", {96, 64}},
                                         {"model.embed_tokens.weight", {96, 64}},
                                         {"model.norm.weight", {64}, Initializer::kOnes}}}};
  FlatStore joined(other, {.compute_type = at::kBFloat16});
  initialize_weights(joined, config, 42);
  for (const char* name : {"model.embed_tokens.weight", "lm_head.weight", "model.norm.weight"}) {
    EXPECT_EQ(read(whole, name), read(joined, name)) << name;
  }
  EXPECT_NE(read(whole, "lm_head.weight"), read(whole, "model.embed_tokens.weight"));
  initialize_weights(joined, config, 43);
  EXPECT_NE(read(whole, "lm_head.weight"), read(joined, "lm_head.weight"));
  EXPECT_EQ(read(whole, "model.norm.weight"), std::vector<float>(64, 1.0f));
  const std::vector<float> embedding = read(whole, "model.embed_tokens.weight");
  for (int j = 0; j < 64; ++j) EXPECT_EQ(embedding[3 * 64 + j], 0.0f);
}

TEST(FillNormal, HasTheMomentsOfTheStandardNormal) {
  std::vector<float> values(1 << 18);
  fill_normal(1, 2, 0, values);
  const double n = static_cast<double>(values.size());
  double sum = 0, square = 0, fourth = 0, beyond_two = 0;
  for (const double x : values) {
    sum += x;
    square += x * x;
    fourth += x * x * x * x;
    beyond_two += std::fabs(x) > 2.0;
  }
  EXPECT_NEAR(sum / n, 0.0, 4 / std::sqrt(n));
  EXPECT_NEAR(square / n, 1.0, 4 * std::sqrt(2 / n));
  EXPECT_NEAR(fourth / n, 3.0, 4 * std::sqrt(96 / n));
  EXPECT_NEAR(beyond_two / n, 0.0455, 4 * std::sqrt(0.0455 / n));
}

TEST(FillNormal, IsTheSameWhereverABlockBegins) {
  std::vector<float> whole(1000), part(300);
  fill_normal(5, 9, 0, whole);
  fill_normal(5, 9, 400, part);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 400));
}

TEST(FillNormal, AgreesWithBoxMullerInDoublePrecision) {
  std::vector<float> values(4096);
  fill_normal(11, 3, 0, values);
  for (std::size_t i = 0; i < values.size(); i += 4) {
    const auto words = base::philox4x32(11, 3, i / 4);
    for (int pair = 0; pair < 2; ++pair) {
      const double u = ((words[2 * pair] >> 8) + 1.0) * 0x1.0p-24;
      const double turn = (static_cast<std::int32_t>(words[2 * pair + 1]) >> 8) * 0x1.0p-24;
      const double radius = std::sqrt(-2 * std::log(u));
      EXPECT_NEAR(values[i + 2 * pair], radius * std::cos(2 * M_PI * turn), 2e-6);
      EXPECT_NEAR(values[i + 2 * pair + 1], radius * std::sin(2 * M_PI * turn), 2e-6);
    }
  }
}

}  // namespace
}  // namespace athanor::shard
