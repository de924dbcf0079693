#include "core/schedule/learning_rate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/json.h"

namespace athanor::schedule {
namespace {

using base::JsonValue;

constexpr double kRelative = 1e-12;

JsonValue expected(const std::string& name) {
  return base::parse_json_file(ATHANOR_SOURCE_DIR "/tests/parity/schedules/" + name);
}

config::ScheduleConfig config_of(const JsonValue& row) {
  config::ScheduleConfig config;
  config.family = row.find("family")->as_string() == "hf" ? config::ScheduleFamily::kHuggingFace
                                                          : config::ScheduleFamily::kDeepSpeed;
  config.type = row.find("type")->as_string();
  config.parameters = *row.find(config.family == config::ScheduleFamily::kHuggingFace ? "kwargs" : "params");
  if (const JsonValue* warmup = row.find("num_warmup_steps")) config.warmup_steps = warmup->as_double();
  return config;
}

void expect_near(double got, double want, const std::string& what) {
  EXPECT_NEAR(got, want, kRelative * std::fabs(want) + 1e-300) << what;
}

// Compares every value of a file of reference schedules and gives their number.
int compare_with_reference(const std::string& name) {
  const JsonValue reference = expected(name);
  int compared = 0;
  for (const JsonValue& row : reference.find("schedules")->items()) {
    const config::ScheduleConfig config = config_of(row);
    const double base = row.find("base_lr")->as_double();
    const JsonValue* total = row.find("num_training_steps");
    const std::string what = row.dump().substr(0, 200);
    if (row.find("error") != nullptr) {
      EXPECT_THROW(make_schedule(config, base, total->as_integer()), base::UserError) << what;
      continue;
    }
    // A DeepSpeed schedule that carries its own total does not look at the run's.
    const LearningRateSchedule schedule = make_schedule(config, base, total != nullptr ? total->as_integer() : 20);
    if (const JsonValue* rates = row.find("lr")) {
      for (std::size_t k = 0; k < rates->items().size(); ++k) {
        expect_near(schedule.at(static_cast<std::int64_t>(k)).learning_rate, rates->items()[k].as_double(), what);
      }
      compared += static_cast<int>(rates->items().size());
      continue;
    }
    expect_near(schedule.at(0).learning_rate, row.find("lr_before_first_scheduler_step")->as_double(), what);
    const std::vector<JsonValue>& after = row.find("lr_after_scheduler_step")->items();
    for (std::size_t k = 0; k < after.size(); ++k) {
      const StepRates rates = schedule.at(static_cast<std::int64_t>(k) + 1);
      expect_near(rates.learning_rate, after[k].as_double(), what + " update " + std::to_string(k + 1));
      const JsonValue* momenta = row.find("beta1_after_scheduler_step");
      EXPECT_EQ(rates.beta1.has_value(), momenta != nullptr) << what;
      if (momenta != nullptr && rates.beta1.has_value()) {
        expect_near(*rates.beta1, momenta->items()[k].as_double(), what);
        EXPECT_EQ(*rates.beta2, 0.99);
      }
    }
    compared += static_cast<int>(after.size());
  }
  return compared;
}

TEST(LearningRate, EqualsTheReferenceAtEveryStep) { EXPECT_GT(compare_with_reference("expected.json"), 1000); }

TEST(LearningRate, EqualsTheReferenceInItsOptionsAndCorners) {
  EXPECT_GT(compare_with_reference("expected_more.json"), 1000);
}

config::ScheduleConfig huggingface(const std::string& type, const std::string& parameters = "{}") {
  config::ScheduleConfig config;
  config.type = type;
  config.parameters = base::parse_json(parameters, "test");
  return config;
}

config::ScheduleConfig deepspeed(const std::string& type, const std::string& parameters) {
  config::ScheduleConfig config = huggingface(type, parameters);
  config.family = config::ScheduleFamily::kDeepSpeed;
  return config;
}

TEST(LearningRate, CosineWithWarmupFromMinimumStartsAboveZero) {
  config::ScheduleConfig config = huggingface("cosine_warmup_with_min_lr", R"({"min_lr_rate": 0.1})");
  config.warmup_steps = 3;
  const LearningRateSchedule schedule = make_schedule(config, 1e-3, 10);
  EXPECT_NEAR(schedule.at(0).learning_rate, 1e-3 / 3, 1e-15);
  EXPECT_NEAR(schedule.at(2).learning_rate, 1e-3, 1e-15);
  EXPECT_NEAR(schedule.at(3).learning_rate, 9.5543599e-4, 1e-11);
}

TEST(LearningRate, DoesNotDependOnTheNumberOfRanks) {
  // The published defect: schedulers advanced once per process give 0 at step 50 of 100 on two ranks.
  const LearningRateSchedule schedule = make_schedule(huggingface("cosine"), 1.0, 100);
  EXPECT_NEAR(schedule.at(50).learning_rate, 0.5, 1e-12);
  EXPECT_NEAR(schedule.at(100).learning_rate, 0.0, 1e-12);
}

TEST(LearningRate, HardRestartsGiveAsManyCyclesAsAsked) {
  const LearningRateSchedule schedule =
      make_schedule(huggingface("cosine_with_restarts", R"({"num_cycles": 10})"), 1.0, 100);
  int peaks = 0;
  for (int k = 0; k < 100; ++k) peaks += schedule.at(k).learning_rate == 1.0 ? 1 : 0;
  EXPECT_EQ(peaks, 10);
}

TEST(LearningRate, WarmupResolvesAsTransformersDoes) {
  config::ScheduleConfig config;
  config.warmup_steps = 7;
  config.warmup_ratio = 0.5;
  EXPECT_EQ(resolve_warmup_steps(config, 100), 7);
  config.warmup_steps = 0.25;
  EXPECT_EQ(resolve_warmup_steps(config, 10), 3);
  config.warmup_steps = 0;
  EXPECT_EQ(resolve_warmup_steps(config, 100), 50);
}

TEST(LearningRate, AutoInDeepSpeedTakesThePlan) {
  config::ScheduleConfig config = deepspeed("WarmupDecayLR", R"({"warmup_min_lr": "auto", "warmup_max_lr": "auto",
      "warmup_num_steps": "auto", "total_num_steps": "auto", "warmup_type": "linear"})");
  config.warmup_steps = 4;
  const LearningRateSchedule schedule = make_schedule(config, 1e-2, 10);
  EXPECT_DOUBLE_EQ(schedule.at(1).learning_rate, 0.0);
  EXPECT_DOUBLE_EQ(schedule.at(5).learning_rate, 1e-2);
  EXPECT_DOUBLE_EQ(schedule.at(11).learning_rate, 0.0);
  // Absent is not auto: DeepSpeed's own default.
  const LearningRateSchedule absent =
      make_schedule(deepspeed("WarmupDecayLR", R"({"warmup_num_steps": 4, "warmup_type": "linear"})"), 1e-2, 10);
  EXPECT_DOUBLE_EQ(absent.at(5).learning_rate, 1e-3);
}

std::string problem_of(const config::ScheduleConfig& config, std::int64_t total = 10) {
  try {
    make_schedule(config, 1e-3, total);
  } catch (const base::UserError& error) {
    for (const base::Problem& problem : error.problems()) EXPECT_FALSE(problem.remedy.empty()) << error.what();
    return error.what();
  }
  return "no error";
}

TEST(LearningRate, ImpossibleSettingsAreNamedWithARemedy) {
  EXPECT_NE(problem_of(huggingface("cosin")).find("did you mean cosine?"), std::string::npos);
  EXPECT_NE(problem_of(huggingface("greedy", R"({"factor": 1.5, "patiense": 3})")).find("did you mean patience?"),
            std::string::npos);
  EXPECT_NE(problem_of(deepspeed("CosineAnnealingLR", R"({"T_max": 5})")).find("torch.optim.lr_scheduler"),
            std::string::npos);
  EXPECT_NE(problem_of(huggingface("cosine", R"({"num_cycle": 2})")).find("did you mean num_cycles?"),
            std::string::npos);
  EXPECT_NE(problem_of(huggingface("cosine", R"({"num_cycles": "many"})")).find("many"), std::string::npos);
  EXPECT_NE(problem_of(huggingface("linear", R"({"power": 2})")).find("power"), std::string::npos);
  EXPECT_NE(problem_of(huggingface("cosine_with_min_lr")).find("min_lr_rate"), std::string::npos);
  EXPECT_NE(problem_of(huggingface("polynomial", R"({"lr_end": 1})")).find("lr_end"), std::string::npos);
  EXPECT_NE(problem_of(huggingface("warmup_stable_decay")).find("num_decay_steps"), std::string::npos);
  EXPECT_NE(
      problem_of(huggingface("warmup_stable_decay", R"({"num_decay_steps": 2, "decay_type": "step"})")).find("1-sqrt"),
      std::string::npos);
  EXPECT_NE(problem_of(huggingface("linear"), 0).find("at least one step"), std::string::npos);
  config::ScheduleConfig config = huggingface("linear");
  config.warmup_steps = 11;
  EXPECT_NE(problem_of(config).find("warmup_steps 11 are more than the 10 steps"), std::string::npos);
  EXPECT_NE(problem_of(deepspeed("warmuplr", "{}")).find("did you mean WarmupLR?"), std::string::npos);
  EXPECT_NE(problem_of(deepspeed("WarmupLR", R"({"warmup_num_steps": 0})")).find("positive"), std::string::npos);
  EXPECT_NE(problem_of(deepspeed("WarmupDecayLR", R"({"total_num_steps": 5, "warmup_num_steps": 9})"))
                .find("warmup_num_steps"),
            std::string::npos);
  EXPECT_NE(problem_of(deepspeed("OneCycle", "{}")).find("cycle_max_lr"), std::string::npos);
}

TEST(LearningRate, EveryProblemIsReportedAtOnce) {
  const std::string text = problem_of(huggingface("cosine_with_restarts", R"({"num_cycles": 0, "cycles": 1})"));
  EXPECT_NE(text.find("above 0"), std::string::npos);
  EXPECT_NE(text.find("unknown option cycles"), std::string::npos);
}

}  // namespace
}  // namespace athanor::schedule
