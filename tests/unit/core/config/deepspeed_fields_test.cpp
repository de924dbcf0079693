// The DeepSpeed rows of the field table hold what they promise to everything that is made from them.
#include "core/config/deepspeed_fields.h"

#include <gtest/gtest.h>

#include <set>

#include "core/config/deepspeed_coerce.h"
#include "core/config/deepspeed_schema.h"

namespace athanor::config {
namespace {

std::string parent_of(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? "" : name.substr(0, dot);
}

TEST(DeepSpeedFields, NamesAreUniqueAndParentsComeFirst) {
  std::set<std::string> seen = {""};
  for (const Field& field : deepspeed_fields()) {
    EXPECT_TRUE(seen.contains(parent_of(field.name))) << field.name;
    EXPECT_TRUE(seen.insert(field.name).second) << field.name;
    for (const std::string& alias : field.aliases) {
      const std::string parent = parent_of(field.name);
      const std::string path = parent.empty() ? alias : parent + "." + alias;
      EXPECT_EQ(find_deepspeed_field(path), &field) << path;
    }
  }
}

TEST(DeepSpeedFields, EveryRowSaysWhatItIsAndWhyItHasNoEffect) {
  for (const Field& field : deepspeed_fields()) {
    EXPECT_TRUE(field.doc.ends_with('.')) << field.name;
    EXPECT_EQ(field.vocabulary, Vocabulary::kDeepSpeed);
    EXPECT_FALSE(field.source.empty()) << field.name;
    EXPECT_EQ(field.reason.empty(), field.support == Support::kHonoured) << field.name;
    // Why, then what to do: that is how the message and its remedy are cut apart.
    const bool has_remedy = field.reason.find(". ") != std::string::npos;
    EXPECT_TRUE(field.support != Support::kRefused || has_remedy) << field.name;
  }
}

TEST(DeepSpeedFields, DefaultsAreValuesOfTheirOwnRow) {
  for (const Field& field : deepspeed_fields()) {
    const std::string& text = field.default_text;
    if (text.empty() || text == "null" || text == "auto") continue;
    const bool quoted =
        field.type == FieldType::kText || field.type == FieldType::kPath || field.type == FieldType::kChoice;
    const base::JsonValue value = quoted ? base::JsonValue(text) : base::parse_json(text, field.name);
    const base::Result<base::JsonValue> coerced = coerce_value(field, field.name, value, Strictness::kPydantic);
    ASSERT_TRUE(coerced.ok()) << field.name << ": " << coerced.error().what;
    EXPECT_TRUE(equals_default(field, coerced.value())) << field.name;
  }
}

TEST(DeepSpeedFields, WhatARowTouchesExists) {
  for (const Field& field : deepspeed_fields()) {
    for (const std::string& touched : field.touches) EXPECT_NE(find_deepspeed_field(touched), nullptr) << touched;
  }
}

TEST(DeepSpeedFields, AutoIsForExactlyTheKeysThatAreFilled) {
  std::set<std::string> names;
  for (const Field& field : deepspeed_fields()) {
    if (field.allows_auto) names.insert(field.name);
  }
  const std::set<std::string> expected = {
      "train_batch_size",
      "train_micro_batch_size_per_gpu",
      "gradient_accumulation_steps",
      "gradient_clipping",
      "optimizer.params.lr",
      "optimizer.params.betas",
      "optimizer.params.eps",
      "optimizer.params.weight_decay",
      "scheduler.params.warmup_min_lr",
      "scheduler.params.warmup_max_lr",
      "scheduler.params.warmup_num_steps",
      "scheduler.params.total_num_steps",
      "fp16.enabled",
      "bf16.enabled",
      "zero_optimization.reduce_bucket_size",
      "zero_optimization.stage3_prefetch_bucket_size",
      "zero_optimization.stage3_param_persistence_threshold",
  };
  EXPECT_EQ(names, expected);
}

// Growing or shrinking the schema is a visible change.
TEST(DeepSpeedFields, NumberOfRows) { EXPECT_EQ(deepspeed_fields().size(), 371u); }

TEST(DeepSpeedFields, UnknownNamesAreNotFound) {
  EXPECT_EQ(find_deepspeed_field("nothing"), nullptr);
  EXPECT_EQ(find_deepspeed_field("fp16.stage"), nullptr);
  EXPECT_EQ(find_deepspeed_field("prefetch_bucket_size"), nullptr);
  EXPECT_EQ(find_deepspeed_field(""), nullptr);
}

}  // namespace
}  // namespace athanor::config
