// The commands that deal with configuration, through the shipped binary: what is printed where, and how it ends.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "core/base/json.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace athanor {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class ConfigCommands : public ::testing::Test {
 protected:
  testing::ProgramOutcome athanor(const std::string& line, std::vector<std::pair<std::string, std::string>> more = {}) {
    testing::ProgramOptions options;
    options.folder = folder_.path();
    options.environment = std::move(more);
    return testing::run_program({"sh", "-c", ATHANOR_BIN_DIR "/athanor " + line}, options);
  }
  // Standard output of a command that must succeed and say nothing on standard error.
  std::string output_of(const std::string& line) {
    const testing::ProgramOutcome outcome = athanor(line);
    EXPECT_EQ(outcome.exit_code, 0) << line << "\n" << outcome.err;
    EXPECT_THAT(outcome.err, IsEmpty()) << line;
    return outcome.out;
  }
  // Standard error of a command that must be refused.
  std::string refusal_of(const std::string& line) {
    const testing::ProgramOutcome outcome = athanor(line);
    EXPECT_EQ(outcome.exit_code, 2) << line << "\n" << outcome.out << outcome.err;
    EXPECT_EQ(outcome.end_signal, 0) << line;
    return outcome.err;
  }

  testing::TemporaryFolder folder_;
};

int count_lines(const std::string& text) { return static_cast<int>(std::count(text.begin(), text.end(), '\n')); }

TEST_F(ConfigCommands, HelpFitsAScreenAndHasExamples) {
  constexpr int kScreen = 40;
  const std::string help = output_of("--help");
  EXPECT_LE(count_lines(help), kScreen);
  EXPECT_THAT(help, HasSubstr("examples"));
  for (const char* command : {"train", "config", "explain", "lr", "tokenize", "generate", "completion"}) {
    EXPECT_THAT(help, HasSubstr(std::string("\n  ") + command + " ")) << command;
    const std::string usage = output_of(std::string(command) + " --help");
    EXPECT_LE(count_lines(usage), kScreen) << command;
    EXPECT_THAT(usage, AllOf(HasSubstr("usage: athanor " + std::string(command)), HasSubstr("examples"))) << command;
    EXPECT_EQ(output_of("help " + std::string(command)), usage);
    std::istringstream lines(usage);
    for (std::string row; std::getline(lines, row);) EXPECT_LE(row.size(), 120u) << command << ": " << row;
  }
}

TEST_F(ConfigCommands, UnknownCommandsGetTheNearest) {
  EXPECT_THAT(refusal_of("trian x"),
              AllOf(HasSubstr("there is no command trian"), HasSubstr("did you mean `athanor train`?")));
  EXPECT_THAT(refusal_of("run.yaml"), HasSubstr("athanor train run.yaml"));
  EXPECT_THAT(refusal_of("config shwo"), HasSubstr("config does not know shwo"));
  EXPECT_THAT(refusal_of("config"), HasSubstr("config needs an action"));
  EXPECT_THAT(refusal_of("explain"), HasSubstr("explain needs a name"));
  EXPECT_THAT(refusal_of("completion fish"), HasSubstr("athanor completion bash"));
}

TEST_F(ConfigCommands, VersionNamesTheBuild) { EXPECT_THAT(output_of("--version"), StartsWith("athanor 0.")); }

constexpr const char* kCoderFlags =
    "--model_name_or_path model --data_path rows.jsonl --output_dir out --num_train_epochs 3 --model_max_length 1024 "
    "--per_device_train_batch_size 16 --per_device_eval_batch_size 1 --gradient_accumulation_steps 4 "
    "--evaluation_strategy \"no\" --save_strategy \"steps\" --save_steps 100 --save_total_limit 100 --learning_rate "
    "2e-5 "
    "--warmup_steps 10 --logging_steps 1 --lr_scheduler_type \"cosine\" --gradient_checkpointing True "
    "--report_to \"tensorboard\" --bf16 True --deepspeed " ATHANOR_SOURCE_DIR
    "/tests/fixtures/arguments/coder_zero3.json";

// Name -> {value, origin} of `config show --json`.
std::pair<std::string, std::string> shown(const base::JsonValue& table, const std::string& name) {
  for (const base::JsonValue& row : table.find("values")->items()) {
    if (row.find("name")->as_string() != name) continue;
    return {row.find("value")->as_string(), row.find("origin")->as_string()};
  }
  return {"not shown", ""};
}

TEST_F(ConfigCommands, DeepSeekCodersFineTuningCommandIsTakenAsItIs) {
  const base::JsonValue table =
      base::parse_json(output_of(std::string("config show --json --nproc_per_node 8 ") + kCoderFlags), "config show");
  EXPECT_THAT(table.find("problems")->items(), IsEmpty());
  EXPECT_EQ(shown(table, "train_batch_size").first, "512");
  EXPECT_EQ(shown(table, "precision").first, "bf16");
  EXPECT_EQ(shown(table, "optim").first, "AdamW");
  EXPECT_EQ(shown(table, "scheduler.params.warmup_max_lr").first, "2e-05");
  EXPECT_EQ(shown(table, "scheduler.params.warmup_num_steps").first, "10");
  EXPECT_EQ(shown(table, "optimizer.params.lr").second, "auto: learning_rate (flag --learning_rate)");
  EXPECT_EQ(shown(table, "eval_strategy").second, "flag --evaluation_strategy");
  EXPECT_EQ(shown(table, "zero_optimization.stage").first, "3");
  EXPECT_THAT(shown(table, "zero_optimization.stage").second, HasSubstr("coder_zero3.json:23:18"));
  EXPECT_THAT(table.find("notes")->dump(), HasSubstr("lr_scheduler_type cosine"));
  EXPECT_THAT(output_of(std::string("config check ") + kCoderFlags), HasSubstr("the configuration is in order"));
}

TEST_F(ConfigCommands, ShowTellsWhereEachValueCameFromAndWhatItBeat) {
  folder_.write("run.yaml", "learning_rate: 1e-4\nseed: 7\nmax_steps: 20\n");
  folder_.write("ds.json", "{\n  \"gradient_clipping\": 0.5,\n  \"train_micro_batch_size_per_gpu\": \"auto\"\n}\n");
  const std::string table = output_of("config show run.yaml --deepspeed ds.json --learning_rate 1e-5");
  const auto row = [&](const std::string& name) {
    const std::size_t begin = table.find("\n" + name + " ") + 1;
    return table.substr(begin, table.find('\n', begin) - begin);
  };
  EXPECT_THAT(row("learning_rate"),
              AllOf(HasSubstr(" 1e-5 "), HasSubstr("flag --learning_rate, over run.yaml:1:1 (1e-4)")));
  EXPECT_THAT(row("max_steps"), HasSubstr("run.yaml:3:1"));
  EXPECT_THAT(row("max_grad_norm"), AllOf(HasSubstr(" 0.5 "), HasSubstr("ds.json:2:24")));
  EXPECT_THAT(row("train_micro_batch_size_per_gpu"), HasSubstr("auto: per_device_train_batch_size (default)"));
  EXPECT_THAT(row("weight_decay"), HasSubstr("default"));
  EXPECT_THAT(table,
              HasSubstr("note: taken from the DeepSpeed file, as no argument says otherwise: max_grad_norm 0.5"));
}

TEST_F(ConfigCommands, ShowStillShowsWhenSomethingIsWrong) {
  folder_.write("ds.json", "{\"gradient_clipping\": 0.5}");
  const testing::ProgramOutcome outcome = athanor("config show --deepspeed ds.json --max_grad_norm 1");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.out, HasSubstr("max_grad_norm"));
  EXPECT_THAT(outcome.err, HasSubstr("gradient_clipping is 0.5 in the DeepSpeed file and max_grad_norm is 1"));
  const testing::ProgramOutcome json = athanor("config show --json --deepspeed ds.json --max_grad_norm 1");
  EXPECT_EQ(json.exit_code, 2);
  EXPECT_EQ(base::parse_json(json.out, "output").find("problems")->items().size(), 1u);
}

TEST_F(ConfigCommands, EveryProblemIsSaidAtOnceWithItsPlace) {
  folder_.write("run.yaml", "learning_rat: 1\nsave_steps: often\n");
  folder_.write("ds.json", "{\"zero_optimization\": {\"stag\": 2}, \"train_batch_size\": 7}");
  const std::string text =
      refusal_of("config check run.yaml --deepspeed ds.json --eval_strategy steps --torch_compile");
  for (const char* part : {"run.yaml:1:1", "learning_rate?", "save_steps must be a number, not often", "run.yaml:2:1",
                           "ds.json:1:24", "C004", "torch_compile true is known and not done here"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST_F(ConfigCommands, AScheduleIsJudgedByCheck) {
  EXPECT_THAT(refusal_of("config check --lr_scheduler_type cosin"), HasSubstr("cosine"));
  EXPECT_THAT(refusal_of("config check --lr_scheduler_type cosine_with_min_lr"), HasSubstr("min_lr"));
  EXPECT_THAT(refusal_of("config check --max_steps 10 --warmup_steps 11"), HasSubstr("C008"));
  EXPECT_THAT(
      output_of(
          "config check --lr_scheduler_type warmup_stable_decay --lr_scheduler_kwargs '{\"num_decay_steps\": 5}'"),
      HasSubstr("in order"));
}

TEST_F(ConfigCommands, TrainFindsMissingModelAndDataBeforeTheEngineStarts) {
  const std::string text = refusal_of("train --model_name_or_path nowhere --data_path 'none*.jsonl' --output_dir out");
  EXPECT_THAT(text, AllOf(HasSubstr("nowhere"), HasSubstr("none*.jsonl")));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("out")));
}

TEST_F(ConfigCommands, SeveralCopiesOrProcessesAreRefusedClearly) {
  for (const auto& variables : std::vector<std::vector<std::pair<std::string, std::string>>>{
           {{"WORLD_SIZE", "16"}, {"RANK", "3"}},
           {{"OMPI_COMM_WORLD_SIZE", "16"}},
           {{"PMI_SIZE", "16"}},
           {{"SLURM_NTASKS", "16"}, {"SLURM_STEP_ID", "0"}}}) {
    const testing::ProgramOutcome outcome = athanor("train --output_dir out", variables);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("16 copies were started"));
  }
  EXPECT_THAT(refusal_of("train --nproc_per_node 2 --output_dir out"), HasSubstr("nproc_per_node is 2"));
}

TEST_F(ConfigCommands, ExplainKnowsBothVocabularies) {
  EXPECT_THAT(output_of("explain warmup_steps"),
              AllOf(HasSubstr("--warmup_steps"), HasSubstr("optimizer steps"),
                    HasSubstr("scheduler.params.warmup_num_steps"), HasSubstr("transformers 5")));
  EXPECT_THAT(output_of("explain gradient_clipping"), AllOf(HasSubstr("--max_grad_norm"), HasSubstr("DeepSpeed JSON")));
  EXPECT_THAT(output_of("explain zero_optimization.stage stage3_max_live_parameters"),
              AllOf(HasSubstr("zero_optimization.stage\n"), HasSubstr("accepted without effect")));
  EXPECT_THAT(output_of("explain torch_compile"), HasSubstr("refused when asked for"));
  EXPECT_THAT(output_of("explain --learning-rate"), HasSubstr("5e-05"));
  EXPECT_THAT(refusal_of("explain learnin_rate"), HasSubstr("did you mean learning_rate?"));
  EXPECT_THAT(refusal_of("explain stag"), HasSubstr("did you mean stage?"));
}

TEST_F(ConfigCommands, CompletionIsAScriptThatTheShellTakes) {
  const std::string script = output_of("completion bash");
  EXPECT_THAT(script, AllOf(HasSubstr("--learning_rate"), HasSubstr("complete "), Not(HasSubstr("--torch_compile"))));
  folder_.write("athanor.bash", script);
  testing::ProgramOptions options;
  options.folder = folder_.path();
  const testing::ProgramOutcome completed = testing::run_program(
      {"bash", "-c",
       "source ./athanor.bash; COMP_WORDS=(athanor train --learning_r); COMP_CWORD=2; _athanor; echo ${COMPREPLY[@]}"},
      options);
  EXPECT_EQ(completed.out, "--learning_rate\n") << completed.err;
  EXPECT_THAT(output_of("completion zsh"), HasSubstr("#compdef athanor"));
}

TEST_F(ConfigCommands, AClosedOrFullOutputEndsWithoutNoise) {
  EXPECT_EQ(athanor("explain --list | head -1").exit_code, 0);
  const testing::ProgramOutcome full = athanor("explain --list > /dev/full");
  EXPECT_EQ(full.exit_code, 3);
  EXPECT_THAT(full.err, HasSubstr("standard output cannot be written"));
}

}  // namespace
}  // namespace athanor
