// Flags and run files: spelling, places, precedence, and every slip at once.
#include "core/config/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"
#include "tests/unit/core/config/resolve_words.h"

namespace athanor::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Flags {
  const char* line;
  const char* name;
  std::vector<std::string> texts;
};

TEST(Flags, EverySpellingGivesTheSameArgument) {
  const std::vector<Flags> cases = {
      {"--learning_rate 1e-5", "learning_rate", {"1e-5"}},
      {"--learning_rate=1e-5", "learning_rate", {"1e-5"}},
      {"--learning-rate 1e-5", "learning_rate", {"1e-5"}},
      {"--lr 1e-5", "learning_rate", {"1e-5"}},
      {"--max_steps -1", "max_steps", {"-1"}},
      {"--bf16", "bf16", {"true"}},
      {"--bf16 True", "bf16", {"True"}},
      {"--bf16=false", "bf16", {"false"}},
      {"--bf16 --seed 3", "bf16", {"true"}},
      {"--bf16 run.yml", "bf16", {"true"}},
      {"--no_remove_unused_columns", "remove_unused_columns", {"false"}},
      {"--no_cuda", "use_cpu", {"true"}},
      {"--evaluation_strategy no", "eval_strategy", {"no"}},
      {"--data_path a.jsonl b/*.json c.txt --seed 1", "train_file", {"a.jsonl", "b/*.json", "c.txt"}},
      {"--data_path a.json run.yaml", "train_file", {"a.json"}},
      {"--report_to=none", "report_to", {"none"}},
      {"--run_name=", "run_name", {""}},
      {"--deepspeed --deepspeed_config ds.json", "deepspeed", {"ds.json"}},
      {"--deepspeed_config ds.json --deepspeed", "deepspeed", {"ds.json"}},
  };
  for (const Flags& flags : cases) {
    const ArgumentSet set = read_arguments(split_words(flags.line));
    const Argument* argument = set.find(flags.name);
    ASSERT_NE(argument, nullptr) << flags.line;
    EXPECT_EQ(argument->texts, flags.texts) << flags.line;
    EXPECT_TRUE(argument->is_flag());
  }
}

TEST(Flags, ValuesWithBlanksAndBracesArriveWhole) {
  const ArgumentSet set = read_arguments({"--lr_scheduler_kwargs", "{\"num_cycles\": 3}", "--run_name", "my run"});
  EXPECT_THAT(set.find("lr_scheduler_kwargs")->texts, ElementsAre("{\"num_cycles\": 3}"));
  EXPECT_THAT(set.find("run_name")->texts, ElementsAre("my run"));
  EXPECT_THAT(set.problems, IsEmpty());
}

struct Slip {
  const char* line;
  std::vector<std::string> texts;  // the only problem holds these
};

TEST(Flags, EachSlipIsOneProblemWithARemedy) {
  const std::vector<Slip> slips = {
      {"--learning_rat 1e-5", {"learning_rat", "flag --learning_rat", "did you mean learning_rate?"}},
      {"--per_device_batch_size 4 5 6", {"per_device_batch_size", "did you mean"}},
      {"--zzzzqqqq 1", {"zzzzqqqq", "--allow_unknown_keys"}},
      {"--train_micro_batch_size_per_gpu 4", {"train_micro_batch_size_per_gpu", "a DeepSpeed key"}},
      {"--learning_rate --seed 1", {"--learning_rate has no value", "write --learning_rate 5e-05"}},
      {"--output_dir", {"--output_dir has no value", "write --output_dir VALUE"}},
      {"--deepspeed", {"--deepspeed has no value"}},
      {"stray", {"stray belongs to no flag"}},
      {"-lr 3", {"-lr belongs to no flag"}},
      {"--seed 1 --seed 2", {"seed is given twice: 1 and 2"}},
      {"--learning_rate 1 --lr 2", {"learning_rate and lr are one argument: 1 and 2"}},
  };
  for (const Slip& slip : slips) {
    const ArgumentSet set = read_arguments(split_words(slip.line));
    ASSERT_GE(set.problems.size(), 1u) << slip.line;
    const std::string text = base::format_problem(set.problems.front());
    for (const std::string& part : slip.texts) EXPECT_THAT(text, HasSubstr(part)) << slip.line;
    EXPECT_FALSE(set.problems.front().where.empty()) << slip.line;
    EXPECT_FALSE(set.problems.front().remedy.empty()) << slip.line;
  }
}

TEST(Flags, AnUnknownFlagTakesItsValuesWithIt) {
  EXPECT_THAT(read_arguments(split_words("--unknown_thing a b c --seed 1")).problems, SizeIs(1));
}

TEST(Flags, TheSameValueTwiceIsNoContradiction) {
  EXPECT_THAT(
      read_arguments(split_words("--seed 1 --seed 1 --gradient_checkpointing --activation_checkpointing")).problems,
      IsEmpty());
}

TEST(Flags, AllowUnknownKeysTurnsUnknownNamesIntoNotes) {
  const ArgumentSet set = read_arguments(split_words("--frobnicate 3 --allow_unknown_keys"));
  EXPECT_THAT(set.problems, IsEmpty());
  EXPECT_THAT(set.notes, ElementsAre(HasSubstr("frobnicate (flag --frobnicate)")));
}

TEST(Flags, TwoRunFilesAreRefused) {
  const ArgumentSet set = read_arguments({"a.yaml", "b.yaml"});
  EXPECT_THAT(base::format_problem(set.problems.front()), HasSubstr("a second run file: a.yaml and b.yaml"));
}

class RunFile : public ::testing::Test {
 protected:
  ArgumentSet read(const std::string& content, const std::vector<std::string>& flags = {},
                   const std::string& name = "run.yaml") {
    std::vector<std::string> words = {folder_.write(name, content)};
    words.insert(words.end(), flags.begin(), flags.end());
    return read_arguments(words);
  }
  std::string place(const std::string& position, const std::string& name = "run.yaml") const {
    return folder_.file(name) + ":" + position;
  }

  testing::TemporaryFolder folder_;
};

TEST_F(RunFile, YamlValuesKeepTheirTextAndPlace) {
  const ArgumentSet set = read(
      "# a comment\n"
      "learning_rate: 1e-5\n"
      "per_device_train_batch_size: \"8\"\n"
      "bf16: yes\n"
      "train_file: [a.jsonl, \"b c.jsonl\"]\n"
      "validation_file:\n"
      "  - v.jsonl\n"
      "run_name: null\n"
      "eval_strategy: no\n"
      "resume-from-checkpoint: ~\n"
      "logging_dir:\n");
  EXPECT_THAT(set.problems, IsEmpty());
  EXPECT_THAT(set.find("learning_rate")->texts, ElementsAre("1e-5"));
  EXPECT_EQ(set.find("learning_rate")->where, place("2:1"));
  EXPECT_THAT(set.find("per_device_train_batch_size")->texts, ElementsAre("8"));
  EXPECT_THAT(set.find("bf16")->texts, ElementsAre("yes"));
  EXPECT_THAT(set.find("train_file")->texts, ElementsAre("a.jsonl", "b c.jsonl"));
  EXPECT_THAT(set.find("validation_file")->texts, ElementsAre("v.jsonl"));
  EXPECT_EQ(set.find("validation_file")->where, place("6:1"));
  EXPECT_THAT(set.find("eval_strategy")->texts, ElementsAre("no"));
  EXPECT_EQ(set.find("run_name"), nullptr);
  EXPECT_EQ(set.find("resume_from_checkpoint"), nullptr);
  EXPECT_EQ(set.find("logging_dir"), nullptr);
}

TEST_F(RunFile, JsonIsReadTheSameWay) {
  const ArgumentSet set = read(
      "{\n  \"learning_rate\": 1e-5,\n  \"bf16\": true,\n  \"train_file\": [\"a.jsonl\"],\n"
      "  \"lr_scheduler_kwargs\": {\"num_cycles\": 2}, \"run_name\": null\n}\n",
      {}, "run.json");
  EXPECT_THAT(set.problems, IsEmpty());
  EXPECT_THAT(set.find("learning_rate")->texts, ElementsAre("1e-5"));
  EXPECT_EQ(set.find("learning_rate")->where, place("2:3", "run.json"));
  EXPECT_THAT(set.find("bf16")->texts, ElementsAre("true"));
  EXPECT_THAT(set.find("train_file")->texts, ElementsAre("a.jsonl"));
  EXPECT_EQ(set.find("lr_scheduler_kwargs")->object->find("num_cycles")->as_integer(), 2);
  EXPECT_EQ(set.find("run_name"), nullptr);
}

TEST_F(RunFile, FlagsWinAndSayWhatTheyBeat) {
  const ArgumentSet set = read("seed: 7\nlearning_rate: 1e-4\n", {"--lr", "1e-5"});
  EXPECT_THAT(set.find("learning_rate")->texts, ElementsAre("1e-5"));
  EXPECT_EQ(set.find("learning_rate")->place(), "flag --lr");
  EXPECT_EQ(set.find("learning_rate")->beat, place("2:1 (1e-4)"));
  EXPECT_FALSE(set.find("seed")->beat.has_value());
}

TEST_F(RunFile, AKeyThatStandsTwiceIsAnErrorWithBothPlaces) {
  for (const char* content : {"seed: 1\nseed: 2\n", "seed: 1\nseed: 1\n"}) {
    const ArgumentSet set = read(content);
    ASSERT_THAT(set.problems, SizeIs(1)) << content;
    EXPECT_EQ(set.problems[0].where, place("1:1") + " and " + place("2:1"));
    EXPECT_THAT(set.problems[0].what, HasSubstr("seed is given twice"));
  }
  const ArgumentSet json = read("{\"seed\": 1,\n\"seed\": 2}", {}, "run.json");
  EXPECT_EQ(json.problems.at(0).where, place("1:2", "run.json") + " and " + place("2:1", "run.json"));
}

TEST_F(RunFile, TwoSpellingsOfOneArgumentMustAgree) {
  EXPECT_THAT(read("gradient_checkpointing: true\nactivation_checkpointing: true\n").problems, IsEmpty());
  const ArgumentSet set = read("evaluation_strategy: steps\neval_strategy: epoch\n");
  EXPECT_THAT(set.problems.at(0).what, HasSubstr("evaluation_strategy and eval_strategy are one argument"));
}

TEST_F(RunFile, ObjectsInsideKnowTheirPlaces) {
  const ArgumentSet set = read(
      "deepspeed:\n"
      "  zero_optimization:\n"
      "    stage: 3\n"
      "    overlap_comm: on\n"
      "  gradient_clipping: auto\n"
      "  train_batch_size: \"32\"\n"
      "  optimizer: {type: AdamW, params: {lr: 1e-5, betas: [0.9, 0.95], eps: ~}}\n");
  EXPECT_THAT(set.problems, IsEmpty());
  const base::JsonValue& object = *set.find("deepspeed")->object;
  EXPECT_EQ(object.find("zero_optimization")->find("stage")->as_integer(), 3);
  EXPECT_EQ(object.find("zero_optimization")->find("stage")->position(), (base::Position{3, 12}));
  EXPECT_TRUE(object.find("zero_optimization")->find("overlap_comm")->as_bool());
  EXPECT_EQ(object.find("gradient_clipping")->as_string(), "auto");
  EXPECT_EQ(object.find("train_batch_size")->as_string(), "32");
  const base::JsonValue& params = *object.find("optimizer")->find("params");
  EXPECT_EQ(params.find("lr")->as_double(), 1e-5);
  EXPECT_EQ(params.find("betas")->items()[1].as_double(), 0.95);
  EXPECT_TRUE(params.find("eps")->is_null());
}

struct BadFile {
  const char* name;
  const char* content;
  const char* position;  // line:column, "" for the file alone
  const char* text;
};

TEST_F(RunFile, WhatIsNoRunFileIsRefusedWithItsPlace) {
  const std::vector<BadFile> cases = {
      {"run.yaml", "seed: 1\n  output_dir: [out\n", "2:", "no YAML"},
      {"run.yaml", "seed: 1\n---\nseed: 2\n", "3:1", "more than one document"},
      {"run.yaml", "- seed\n- 1\n", "", "must be a mapping"},
      {"run.yaml", "just a sentence\n", "", "must be a mapping"},
      {"run.yaml", "train_file: [[a], [b]]\n", "1:1", "list of plain values"},
      {"run.yaml", "learning_rat: 1\n", "1:1", "unknown argument learning_rat"},
      {"run.json", "{\"seed\": 1,}", "1:12", ""},
      {"run.json", "[1]", "", "must be an object"},
      {"run.json", "{\"train_file\": [{}]}", "1:2", "list of plain values"},
      {"run.json", "", "1:1", ""},
  };
  for (const BadFile& bad : cases) {
    const ArgumentSet set = read(bad.content, {}, bad.name);
    ASSERT_THAT(set.problems, SizeIs(1)) << bad.content;
    const std::string text = base::format_problem(set.problems[0]);
    EXPECT_THAT(text, HasSubstr(bad.text)) << bad.content;
    EXPECT_THAT(text, HasSubstr(*bad.position == '\0' ? folder_.file(bad.name) : place(bad.position, bad.name)));
    EXPECT_FALSE(set.problems[0].remedy.empty()) << bad.content;
  }
}

TEST_F(RunFile, EmptyIsNothingSaid) {
  for (const char* content : {"", "# only a comment\n", "---\n"}) {
    const ArgumentSet set = read(content);
    EXPECT_THAT(set.problems, IsEmpty()) << content;
    EXPECT_THAT(set.arguments, IsEmpty()) << content;
  }
}

TEST(RunFileAlone, AMissingOneIsNamed) {
  const ArgumentSet set = read_arguments({"/nowhere/run.yaml"});
  ASSERT_THAT(set.problems, SizeIs(1));
  EXPECT_THAT(base::format_problem(set.problems[0]), HasSubstr("/nowhere/run.yaml"));
}

TEST(Switches, AreReadAsPeopleWriteThem) {
  for (const char* text : {"true", "True", "YES", "on", "1", "y", "T"}) EXPECT_EQ(parse_switch(text), true) << text;
  for (const char* text : {"false", "False", "No", "off", "0", "n", "F"}) EXPECT_EQ(parse_switch(text), false) << text;
  for (const char* text : {"", "2", "maybe", "none"}) EXPECT_EQ(parse_switch(text), std::nullopt) << text;
}

}  // namespace
}  // namespace athanor::config
