// What transformers computes from folders that athanor wrote (tests/transformers/check_folder.py): evaluation loss and greedy
// continuation of the trained model. The values are committed, so this needs no Python.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/file.h"
#include "core/base/json.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace athanor {
namespace {

using testing::ProgramOutcome;

constexpr double kLossTolerance = 2e-5;

const base::JsonValue& expected() {
  static const base::JsonValue value = base::parse_json_file(ATHANOR_SOURCE_DIR "/tests/transformers/expected.json");
  return value;
}

std::string training_rows() {
  std::string rows;
  for (int row = 0; row < 8; ++row) {
    rows += "{\"input_ids\": [";
    for (int place = 0; place < 24; ++place) {
      rows += (place ? ", " : "") + std::to_string((7 * row + 3 * place * place + place) % 128);
    }
    rows += "]}\n";
  }
  return rows;
}

double evaluation_loss(const std::string& output) {
  const base::JsonValue state = base::parse_json_file(output + "/trainer_state.json");
  double loss = NAN;
  for (const base::JsonValue& row : state.find("log_history")->items()) {
    if (const base::JsonValue* value = row.find("eval_loss")) loss = value->as_double();
  }
  return loss;
}

class Transformers : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Cases, Transformers,
                         ::testing::Values("llama", "llama-tied", "llama-yarn", "llama-llama3", "qwen2", "qwen2-tied"),
                         [](const auto& each) {
                           std::string name = each.param;
                           for (char& letter : name) letter = letter == '-' ? '_' : letter;
                           return name;
                         });

TEST_P(Transformers, ComputesTheSameFromTheFolderWritten) {
  const testing::TemporaryFolder folder;
  const std::string athanor = std::string(ATHANOR_BIN_DIR) + "/athanor", output = folder.file("out");
  folder.write("rows.jsonl", training_rows());
  const ProgramOutcome trained = testing::run_program({athanor,
                                                       "train",
                                                       "--model_name_or_path",
                                                       std::string(ATHANOR_SOURCE_DIR "/tests/parity/") + GetParam(),
                                                       "--data_path",
                                                       folder.file("rows.jsonl"),
                                                       "--validation_file",
                                                       folder.file("rows.jsonl"),
                                                       "--output_dir",
                                                       output,
                                                       "--train_sampling_strategy",
                                                       "sequential",
                                                       "--per_device_train_batch_size",
                                                       "4",
                                                       "--max_steps",
                                                       "8",
                                                       "--learning_rate",
                                                       "3e-3",
                                                       "--lr_scheduler_type",
                                                       "constant",
                                                       "--logging_steps",
                                                       "1",
                                                       "--eval_strategy",
                                                       "steps",
                                                       "--eval_steps",
                                                       "8",
                                                       "--save_strategy",
                                                       "no",
                                                       "--report_to",
                                                       "none"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const base::JsonValue& values = *expected().find(GetParam());
  EXPECT_NEAR(evaluation_loss(output), values.find("eval_loss")->as_double(), kLossTolerance);

  const ProgramOutcome continued = testing::run_program({athanor, "generate", output, "--prompt_ids", "5,17,100,31,44",
                                                         "--max_new_tokens", "24", "--ignore_eos", "--output_ids"});
  EXPECT_EQ(continued.exit_code, 0) << continued.err;
  std::string greedy;
  for (const base::JsonValue& id : values.find("greedy")->items()) {
    greedy += (greedy.empty() ? "" : " ") + std::to_string(id.as_integer());
  }
  EXPECT_EQ(continued.out, greedy + "\n");
}

}  // namespace
}  // namespace athanor
