// Every rule between settings has a case that breaks it and one beside it that does not.
#include "core/config/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/base/file.h"
#include "tests/unit/core/config/resolve_words.h"

namespace athanor::config {
namespace {

using ::testing::HasSubstr;

struct Case {
  const char* id;
  std::string line;
  std::vector<std::string> texts;
};

const std::vector<Case>& broken() {
  static const std::vector<Case> cases = {
      {"C004", "--eval_strategy steps", {"no validation data", "--validation_file"}},
      {"C004", "--eval_on_start", {"no validation data"}},
      {"C005", "--load_best_model_at_end", {"needs evaluation"}},
      {"C005",
       "--load_best_model_at_end --eval_strategy epoch --validation_file v",
       {"same eval_strategy and save_strategy"}},
      {"C005",
       "--load_best_model_at_end --eval_strategy steps --validation_file v --eval_steps 30 --save_steps 100",
       {"save_steps 100 is no multiple of eval_steps 30"}},
      {"C005",
       "--load_best_model_at_end --eval_strategy steps --validation_file v --eval_steps 0.1 --save_steps 100",
       {"one is a share of the run"}},
      {"C005",
       "--load_best_model_at_end --eval_strategy steps --validation_file v --eval_steps 0.3 --save_steps 0.5",
       {"no multiple"}},
      {"C006", "--save_strategy best", {"needs evaluation"}},
      {"C007", "--tokens_per_batch 512 --model_max_length 1024", {"tokens_per_batch 512", "1024"}},
      {"C008", "--max_steps 10 --warmup_steps 20", {"warmup_steps 20 are more than max_steps 10", "at most 10"}},
      {"C009", "--max_steps 0", {"max_steps is 0"}},
      {"C009", "--num_train_epochs 0", {"num_train_epochs is 0"}},
      {"C010", "--logging_steps 0", {"logging_steps is 0"}},
      {"C010", "--save_steps 2.5", {"save_steps is 2.5", "whole number"}},
      {"C010", "--eval_strategy steps --validation_file v --eval_steps 1.5", {"eval_steps is 1.5"}},
      {"C011", "--resume_from_checkpoint true --overwrite_output_dir", {"contradict each other"}},
      {"C012", "--config_overrides hidden_size=64", {"config_overrides"}},
      {"C013", "--metric_for_best_model accuracy", {"loss alone, not accuracy"}},
      {"C014", "--save_only_model --resume_from_checkpoint true", {"save_only_model writes none"}},
      {"C015", "--packing --group_by_length", {"nothing to group"}},
      {"C016", "--lr_scheduler_type reduce_lr_on_plateau", {"follows the evaluation", "eval_strategy"}},
      {"C015", "--packing --train_sampling_strategy group_by_length", {"nothing to group"}},
  };
  return cases;
}

TEST(Rules, EachBrokenRuleSaysItsIdPlaceAndRemedy) {
  for (const Case& one : broken()) {
    const Resolution resolution = resolve_words(one.line);
    ASSERT_EQ(resolution.problems.size(), 1u) << one.line << "\n" << all_text(resolution);
    const base::Problem& problem = resolution.problems[0];
    EXPECT_TRUE(problem.what.starts_with(std::string(one.id) + ": ")) << problem.what;
    for (const std::string& text : one.texts) EXPECT_THAT(base::format_problem(problem), HasSubstr(text)) << one.line;
    EXPECT_FALSE(problem.where.empty() || problem.remedy.empty()) << one.line;
  }
}

TEST(Rules, WhatStandsBesideABrokenRuleIsAccepted) {
  for (const char* line :
       {"--eval_strategy steps --validation_file v",
        "--eval_on_start --validation_file v",
        "--load_best_model_at_end --eval_strategy steps --validation_file v --eval_steps 50 --save_steps 100",
        "--load_best_model_at_end --eval_strategy steps --validation_file v --eval_steps 0.1 --save_steps 0.3",
        "--load_best_model_at_end --eval_strategy epoch --save_strategy epoch --validation_file v",
        "--load_best_model_at_end --eval_strategy epoch --save_strategy best --validation_file v",
        "--save_strategy best --eval_strategy steps --validation_file v --metric_for_best_model eval_loss",
        "--tokens_per_batch 1024 --model_max_length 1024",
        "--max_steps 10 --warmup_steps 10",
        "--max_steps 10 --warmup_steps 20 --lr_scheduler_type constant",
        "--num_train_epochs 0 --max_steps 5",
        "--logging_steps 0 --logging_strategy no",
        "--save_steps 2.5 --save_strategy epoch",
        "--save_steps 0.5",
        "--resume_from_checkpoint true",
        "--overwrite_output_dir",
        "--save_only_model --resume_from_checkpoint old/checkpoint-5",
        "--group_by_length",
        "--packing",
        "--lr_scheduler_type greedy --eval_strategy epoch --validation_file v"}) {
    accept_words(line);
  }
}

TEST(Rules, WhatARunNeedsIsAskedForAtOnce) {
  const Resolution resolution = resolve(read_arguments({}));
  ASSERT_EQ(resolution.problems.size(), 3u) << all_text(resolution);
  for (const char* text :
       {"C001: output_dir is missing", "C002: there is no model", "C003: there is no training data"}) {
    EXPECT_THAT(all_text(resolution), HasSubstr(text));
  }
  EXPECT_THAT(all_text(resolve_words("--config_name config.json")),
              HasSubstr("C002: model_name_or_path and config_name"));
}

TEST(Rules, EveryRuleHasACaseAndALineInTheDocumentation) {
  std::set<std::string> tested = {"C001", "C002", "C003"};
  for (const Case& one : broken()) tested.insert(one.id);
  const std::string page = base::read_file(ATHANOR_SOURCE_DIR "/docs/reference/config_rules.md");
  std::string before;
  for (const Rule& rule : rules()) {
    EXPECT_TRUE(tested.contains(rule.id)) << rule.id;
    EXPECT_LT(before, rule.id);
    before = rule.id;
    EXPECT_THAT(page, HasSubstr(std::string("| ") + rule.id + " | " + rule.summary + " |"));
  }
  EXPECT_EQ(tested.size(), rules().size());
}

}  // namespace
}  // namespace athanor::config
