// Whole DeepSpeed files with the combinations that people use, and the verdict on each: tests/fixtures/deepspeed/expected.txt.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <sstream>

#include "core/base/file.h"
#include "core/config/deepspeed.h"
#include "core/config/deepspeed_batch.h"

namespace athanor::config {
namespace {

const std::string kFolder = ATHANOR_SOURCE_DIR "/tests/fixtures/deepspeed/";

template <typename T>
std::string shown(const Setting<T>& setting) {
  if (setting.is_auto) return "auto";
  return setting.value ? fmt::format("{}", *setting.value) : "-";
}

// The batch sizes at 8 ranks, or why there are none.
std::string solved(const DeepSpeedBatch& batch) {
  if (batch.train_batch_size.is_auto || batch.train_micro_batch_size_per_gpu.is_auto ||
      batch.gradient_accumulation_steps.is_auto) {
    return "filled from the arguments";
  }
  const auto sizes = solve_batch_sizes({.train = batch.train_batch_size.value,
                                        .micro = batch.train_micro_batch_size_per_gpu.value,
                                        .accumulation = batch.gradient_accumulation_steps.value,
                                        .world_size = 8});
  if (!sizes.ok()) return sizes.error().what;
  return fmt::format("train {} micro {} accumulation {}", sizes.value().train, sizes.value().micro,
                     sizes.value().accumulation);
}

const char* kind_name(NoteKind kind) {
  switch (kind) {
    case NoteKind::kHarmless:
      return "harmless";
    case NoteKind::kIgnored:
      return "ignored";
    case NoteKind::kMapped:
      return "mapped";
    case NoteKind::kDeprecated:
      return "deprecated";
    case NoteKind::kDefaulted:
      return "defaulted";
  }
  return "";
}

// A reading in the lines of expected.txt.
std::string describe(const DeepSpeedReading& reading) {
  const DeepSpeedConfig& config = reading.config;
  std::string text =
      fmt::format("given: train {} micro {} accumulation {}\n", shown(config.batch.train_batch_size),
                  shown(config.batch.train_micro_batch_size_per_gpu), shown(config.batch.gradient_accumulation_steps));
  text += fmt::format("8 ranks: {}\n", solved(config.batch));
  text += fmt::format("stage: {}\n", shown(config.zero_optimization.stage));
  text += fmt::format("fp16: {} bf16: {}\n", shown(config.fp16.enabled), shown(config.bf16.enabled));
  if (config.optimizer) {
    text += fmt::format("optimizer: {} lr {} weight_decay {}\n", config.optimizer->type,
                        shown(config.optimizer->learning_rate), shown(config.optimizer->weight_decay));
  }
  if (config.scheduler) {
    text += fmt::format("scheduler: {} {}\n", config.scheduler->type, config.scheduler->parameters.dump());
  }
  for (const base::Problem& problem : reading.problems) {
    text += fmt::format("problem: {}: {} -> {}\n", problem.where, problem.what, problem.remedy);
  }
  for (const DeepSpeedNote& note : reading.notes) {
    text += fmt::format("{}: {}\n", kind_name(note.kind), fmt::join(note.keys, " "));
  }
  return text;
}

// File name -> its lines.
std::map<std::string, std::string> expected_descriptions() {
  std::map<std::string, std::string> descriptions;
  std::istringstream lines(base::read_file(kFolder + "expected.txt"));
  std::string name;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("== ")) {
      name = line.substr(3);
    } else if (!line.empty() && !line.starts_with("#")) {
      descriptions[name] += line + "\n";
    }
  }
  return descriptions;
}

TEST(DeepSpeedFiles, EveryFileIsReadAsExpected) {
  const std::map<std::string, std::string> expected = expected_descriptions();
  std::size_t num_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".json") && !name.ends_with(".hjson")) continue;
    ++num_files;
    const std::string text = base::read_file(entry.path().string());
    const auto found = expected.find(name);
    ASSERT_NE(found, expected.end()) << name << " is not in expected.txt; it gives\n"
                                     << describe(read_deepspeed_text(text, name));
    EXPECT_EQ(describe(read_deepspeed_text(text, name)), found->second) << name;
  }
  EXPECT_EQ(num_files, expected.size());
}

TEST(DeepSpeedFiles, UnknownKeysBecomeNotesWhenAllowedAndTheRestIsTheSame) {
  for (const char* name : {"06_older_micro_batch_name.json", "16_misplaced_offload.json", "22_name_of_2019.json",
                           "40_checkpoint_keys.json", "43_megatron_arguments.json"}) {
    const DeepSpeedReading refused = read_deepspeed(kFolder + name);
    const DeepSpeedReading allowed = read_deepspeed(kFolder + name, {.unknown_keys = UnknownKeys::kWarn});
    EXPECT_FALSE(refused.problems.empty()) << name;
    EXPECT_TRUE(allowed.problems.empty()) << name;
    std::size_t num_ignored = 0;
    for (const DeepSpeedNote& note : allowed.notes) {
      if (note.kind == NoteKind::kIgnored) num_ignored += note.keys.size();
    }
    EXPECT_EQ(num_ignored, refused.problems.size()) << name;
  }
}

TEST(DeepSpeedFiles, EveryProblemHasAPlaceInTheFileAndARemedy) {
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    const std::string path = entry.path().string();
    if (!path.ends_with("json")) continue;
    for (const base::Problem& problem : read_deepspeed(path).problems) {
      EXPECT_TRUE(problem.where.starts_with(path + ":")) << problem.where;
      EXPECT_FALSE(problem.what.empty()) << path;
      EXPECT_FALSE(problem.remedy.empty()) << path << " " << problem.what;
    }
  }
}

}  // namespace
}  // namespace athanor::config
