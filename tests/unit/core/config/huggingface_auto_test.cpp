// "auto" and mismatches as transformers has them. Expected values: tests/parity/huggingface_arguments (generate.py made them from the
// released packages).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/temporary_folder.h"
#include "tests/unit/core/config/resolve_words.h"

namespace athanor::config {
namespace {

using base::JsonValue;
using ::testing::HasSubstr;

const JsonValue& reference() {
  static const JsonValue json =
      base::parse_json_file(ATHANOR_SOURCE_DIR "/tests/parity/huggingface_arguments/expected.json");
  return json;
}

const JsonValue* at(const JsonValue& root, const std::string& path) {
  const JsonValue* value = &root;
  for (std::size_t begin = 0; value != nullptr && begin <= path.size();) {
    const std::size_t dot = std::min(path.find('.', begin), path.size());
    value = value->find(path.substr(begin, dot - begin));
    begin = dot + 1;
  }
  return value != nullptr && value->is_null() ? nullptr : value;
}

struct Mismatch {
  std::string key;
  std::string argument;
};

// "- ds gradient_clipping=0.1 vs hf max_grad_norm=1.0"
Mismatch parse_mismatch(const std::string& line) {
  const std::size_t key = line.find("ds ") + 3;
  const std::size_t argument = line.find(" vs hf ") + 7;
  return {line.substr(key, line.find('=') - key),
          line.substr(argument, line.find_first_of("= (|+", argument) - argument)};
}

class Case {
 public:
  explicit Case(const JsonValue& json) : json_(json) {
    for (const JsonValue& word : json.find("flags")->items()) words_.push_back(word.as_string());
    if (!has("--max_steps")) {
      words_.insert(words_.end(), {"--max_steps", std::to_string(json.find("total_steps")->as_integer())});
    }
    words_.insert(words_.end(), {"--deepspeed", folder_.write("ds.json", json.find("deepspeed")->dump(1))});
  }

  bool has(const std::string& flag) const { return std::find(words_.begin(), words_.end(), flag) != words_.end(); }
  const std::string& name() const { return json_.find("name")->as_string(); }
  const JsonValue& filled() const { return *json_.find("filled"); }
  const std::vector<JsonValue>& mismatches() const { return json_.find("mismatches")->items(); }
  Resolution resolution() const {
    return resolve(read_arguments(with_necessities(words_)), {.world_size = json_.find("world_size")->as_integer()});
  }

 private:
  const JsonValue& json_;
  testing::TemporaryFolder folder_;
  std::vector<std::string> words_;
};

void expect_number(const Case& one, const std::string& path, double ours) {
  const JsonValue* value = at(one.filled(), path);
  if (value == nullptr) return;
  EXPECT_EQ(value->as_double(), ours) << one.name() << ": " << path;
}

void expect_filled(const Case& one, const RunConfig& config) {
  expect_number(one, "train_batch_size", static_cast<double>(config.batch.global_batch_size()));
  expect_number(one, "train_micro_batch_size_per_gpu", static_cast<double>(config.batch.micro_batch_size));
  expect_number(one, "gradient_accumulation_steps", static_cast<double>(config.batch.accumulation_steps));
  expect_number(one, "gradient_clipping", config.clipping.max_norm);
  expect_number(one, "optimizer.params.lr", config.optimizer.learning_rate);
  expect_number(one, "optimizer.params.eps", config.optimizer.epsilon);
  expect_number(one, "optimizer.params.weight_decay", config.optimizer.weight_decay);
  if (const JsonValue* betas = at(one.filled(), "optimizer.params.betas")) {
    EXPECT_EQ(betas->items()[0].as_double(), config.optimizer.beta1) << one.name();
    EXPECT_EQ(betas->items()[1].as_double(), config.optimizer.beta2) << one.name();
  }
  if (const JsonValue* parameters = at(one.filled(), "scheduler.params")) {
    for (const base::JsonMember& member : parameters->members()) {
      const JsonValue* ours = config.schedule.parameters.find(member.key);
      ASSERT_TRUE(ours != nullptr && ours->is_number()) << one.name() << ": " << member.key;
      EXPECT_EQ(member.value.as_double(), ours->as_double()) << one.name() << ": " << member.key;
    }
  }
  for (const auto& [section, precision] :
       {std::pair{"bf16.enabled", Precision::kBfloat16}, {"fp16.enabled", Precision::kFloat16}}) {
    const JsonValue* enabled = at(one.filled(), section);
    if (enabled == nullptr) continue;
    EXPECT_EQ(enabled->as_bool(), config.precision.compute == precision) << one.name();
  }
  EXPECT_EQ(config.optimizer.decay_groups,
            at(one.filled(), "optimizer") != nullptr ? DecayGroups::kAll : DecayGroups::kHuggingFace);
}

TEST(HuggingFaceAuto, FillsWhatTransformersFills) {
  int num_compared = 0;
  for (const JsonValue& json : reference().find("cases")->items()) {
    const Case one(json);
    if (!one.mismatches().empty()) continue;
    const Resolution resolution = one.resolution();
    EXPECT_TRUE(resolution.problems.empty()) << one.name() << "\n" << all_text(resolution);
    expect_filled(one, resolution.config);
    ++num_compared;
  }
  EXPECT_GE(num_compared, 10);
}

TEST(HuggingFaceAuto, NamesEveryMismatchThatTransformersNames) {
  int num_compared = 0;
  for (const JsonValue& json : reference().find("cases")->items()) {
    const Case one(json);
    const Resolution resolution = one.resolution();
    for (const JsonValue& line : one.mismatches()) {
      const Mismatch mismatch = parse_mismatch(line.as_string());
      const bool given = mismatch.argument == "train_batch_size" || mismatch.argument == "num_training_steps" ||
                         one.has("--" + mismatch.argument);
      const std::string text = all_text(resolution);
      if (given) {
        EXPECT_THAT(text, HasSubstr(mismatch.key)) << one.name();
      } else {
        // Nobody gave the argument: the file's value is taken, and said.
        EXPECT_EQ(text, "") << one.name();
        EXPECT_THAT(all_notes(resolution), HasSubstr(mismatch.argument)) << one.name();
      }
      ++num_compared;
    }
    if (one.mismatches().empty()) continue;
    EXPECT_LE(resolution.problems.size(), one.mismatches().size()) << one.name() << "\n" << all_text(resolution);
  }
  EXPECT_GE(num_compared, 20);
}

TEST(HuggingFaceAuto, AMismatchShowsBothValuesBothPlacesAndTheWayOut) {
  testing::TemporaryFolder folder;
  const std::string path =
      folder.write("ds.json", "{\n  \"gradient_clipping\": 0.1,\n  \"bf16\": {\"enabled\": false}\n}");
  const Resolution resolution = resolve_words("--max_grad_norm 0.5 --bf16 --deepspeed " + path);
  ASSERT_EQ(resolution.problems.size(), 2u) << all_text(resolution);
  EXPECT_EQ(resolution.problems[0].what, "bf16.enabled is false in the DeepSpeed file and bf16 is true");
  EXPECT_EQ(resolution.problems[1].what, "gradient_clipping is 0.1 in the DeepSpeed file and max_grad_norm is 0.5");
  EXPECT_EQ(resolution.problems[1].where, path + ":2:24 and flag --max_grad_norm");
  EXPECT_EQ(resolution.problems[1].remedy,
            "write the same value in both, or \"auto\" for gradient_clipping in the DeepSpeed file");
}

std::vector<std::string> names_of(const JsonValue& list) {
  std::vector<std::string> names;
  for (const JsonValue& entry : list.items()) names.push_back(entry.find("name")->as_string());
  return names;
}

TEST(HuggingFaceArguments, EveryNameOfTransformersIsKnown) {
  for (const std::string& name : names_of(*reference().find("training_arguments"))) {
    EXPECT_NE(find_training_field(name), nullptr) << name;
  }
}

// What a default is depends on the run (null there, a rule here) or is a spelling of the same.
bool differs_on_purpose(const std::string& name) {
  for (const char* known : {"output_dir", "local_rank", "disable_tqdm", "trackio_static_space_id"}) {
    if (name == known) return true;
  }
  return false;
}

TEST(HuggingFaceArguments, DefaultsAreTransformersOwn) {
  for (const JsonValue& entry : reference().find("training_arguments")->items()) {
    const Field& field = *find_training_field(entry.find("name")->as_string());
    const JsonValue& theirs = *entry.find("default");
    if (theirs.is_null() || differs_on_purpose(field.name)) continue;
    if (theirs.is_number()) {
      EXPECT_EQ(base::parse_json(field.default_text, field.name).as_double(), theirs.as_double()) << field.name;
    } else {
      EXPECT_EQ(field.default_text, theirs.is_bool() ? theirs.dump() : theirs.as_string()) << field.name;
    }
  }
}

}  // namespace
}  // namespace athanor::config
