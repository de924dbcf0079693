// The table of training arguments holds what it promises, and growing it is a visible change.
#include "core/config/argument_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/base/file.h"
#include "core/config/arguments.h"
#include "core/config/counterparts.h"
#include "core/config/deepspeed_fields.h"
#include "core/config/number_text.h"
#include "core/config/value_range.h"

namespace athanor::config {
namespace {

using ::testing::ElementsAre;

TEST(TrainingFields, NamesAndAliasesAreUnique) {
  std::set<std::string> seen;
  for (const Field& field : training_fields()) {
    EXPECT_TRUE(seen.insert(field.name).second) << field.name;
    EXPECT_EQ(find_training_field(field.name), &field);
    for (const std::string& alias : field.aliases) {
      EXPECT_TRUE(seen.insert(alias).second) << alias;
      EXPECT_EQ(find_training_field(alias), &field) << alias;
    }
  }
}

TEST(TrainingFields, EveryRowSaysWhatItIs) {
  for (const Field& field : training_fields()) {
    EXPECT_EQ(field.vocabulary, Vocabulary::kTraining);
    EXPECT_TRUE(field.doc.ends_with('.')) << field.name;
    EXPECT_FALSE(field.source.empty()) << field.name;
    EXPECT_EQ(field.reason.empty(), field.support == Support::kHonoured) << field.name;
    for (const std::string& touched : field.touches) {
      EXPECT_TRUE(find_training_field(touched) != nullptr || find_deepspeed_field(touched) != nullptr)
          << field.name << " touches " << touched;
    }
  }
}

bool fits(const Field& field, const std::string& text) {
  switch (field.type) {
    case FieldType::kBool:
      return parse_switch(text).has_value();
    case FieldType::kInteger: {
      const auto value = detail::parse_whole_number(text);
      return value.has_value() && detail::range_holds(field.range, static_cast<double>(*value));
    }
    case FieldType::kNumber: {
      const auto value = detail::parse_number(text);
      return value.has_value() && detail::range_holds(field.range, *value);
    }
    case FieldType::kChoice: {
      const std::vector<std::string> choices = detail::choices_of(field.range);
      return std::find(choices.begin(), choices.end(), text) != choices.end();
    }
    default:
      return true;
  }
}

TEST(TrainingFields, DefaultsAreValuesOfTheirOwnRow) {
  for (const Field& field : training_fields()) {
    if (field.default_text.empty()) continue;
    EXPECT_TRUE(fits(field, field.default_text)) << field.name << " = " << field.default_text;
  }
}

TEST(TrainingFields, RangesAreComparisonsOrChoices) {
  EXPECT_TRUE(detail::range_holds(">= 0 and < 1", 0));
  EXPECT_FALSE(detail::range_holds(">= 0 and < 1", 1));
  EXPECT_FALSE(detail::range_holds("> 0", 0));
  EXPECT_FALSE(detail::range_holds(">= 1 and <= 3", 4));
  EXPECT_TRUE(detail::range_holds("", -5));
  EXPECT_TRUE(detail::range_holds("key=value,...", 7));
  EXPECT_THAT(detail::choices_of("no|steps|epoch"), ElementsAre("no", "steps", "epoch"));
}

TEST(TrainingFields, CounterpartsExistInBothVocabularies) {
  for (const Counterpart& pair : counterparts()) {
    EXPECT_NE(find_training_field(pair.argument), nullptr) << pair.argument;
    EXPECT_NE(find_deepspeed_field(pair.deepspeed_key), nullptr) << pair.deepspeed_key;
  }
  EXPECT_THAT(counterparts_of("max_grad_norm"), ElementsAre("gradient_clipping"));
  EXPECT_THAT(counterparts_of("optimizer.params.betas"), ElementsAre("adam_beta1", "adam_beta2"));
}

// One line per name: name, what is done with it, default. Changing the table changes this file.
TEST(TrainingFields, TheListIsFrozen) {
  std::string table;
  for (const Field& field : training_fields()) {
    const char* support = field.support == Support::kHonoured   ? "honoured"
                          : field.support == Support::kHarmless ? "harmless"
                                                                : "refused";
    table += field.name + "\t" + support + "\t" + field.default_text + "\n";
  }
  EXPECT_EQ(base::read_file(ATHANOR_SOURCE_DIR "/tests/fixtures/arguments/training_fields.tsv"), table);
}

}  // namespace
}  // namespace athanor::config
