// Which setting wins: 500 random mixes of default, run file, flag and DeepSpeed JSON against a few lines that say the rule.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "core/base/random.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/core/config/resolve_words.h"

namespace athanor::config {
namespace {

struct Knob {
  const char* argument;
  const char* key;  // top-level DeepSpeed key, or "" when only arguments have it
  double otherwise;
  std::vector<double> values;
  double (*read)(const RunConfig&);
};

const std::vector<Knob>& knobs() {
  static const std::vector<Knob> list = {
      {"max_grad_norm",
       "gradient_clipping",
       1.0,
       {0.25, 0.5, 2},
       [](const RunConfig& c) { return c.clipping.max_norm; }},
      {"per_device_train_batch_size",
       "train_micro_batch_size_per_gpu",
       8,
       {1, 2, 4},
       [](const RunConfig& c) { return static_cast<double>(c.batch.micro_batch_size); }},
      {"gradient_accumulation_steps",
       "gradient_accumulation_steps",
       1,
       {2, 3, 5},
       [](const RunConfig& c) { return static_cast<double>(c.batch.accumulation_steps); }},
      {"learning_rate", "", 5e-5, {1e-5, 3e-4, 1}, [](const RunConfig& c) { return c.optimizer.learning_rate; }},
      {"seed", "", 42, {0, 1, 7}, [](const RunConfig& c) { return static_cast<double>(c.seed); }},
      {"save_steps", "", 500, {10, 0.25, 100}, [](const RunConfig& c) { return c.checkpoint.save_steps; }},
  };
  return list;
}

// What each source says about one knob; NaN-free: absent is nullopt.
struct Said {
  std::optional<double> file, flag, json;
  bool json_auto = false;
};

struct Expected {
  double value;
  bool contradicts;
};

// The rule itself: default < file < flag; "auto" and absence in the JSON take that; a number of the JSON must agree with what was
// given, and decides where nothing was.
Expected reference(const Knob& knob, const Said& said) {
  const std::optional<double> given = said.flag.has_value() ? said.flag : said.file;
  if (!said.json.has_value()) return {given.value_or(knob.otherwise), false};
  return {*said.json, given.has_value() && *given != *said.json};
}

class Mixer {
 public:
  explicit Mixer(std::uint64_t seed) : random_(seed, 0) {}

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_.below(n)); }
  std::optional<double> maybe(const Knob& knob) {
    return below(2) == 0 ? std::nullopt : std::optional<double>(knob.values[below(knob.values.size())]);
  }
  // A number as one of the spellings that people use; quoted in YAML only, DeepSpeed takes no text there.
  std::string spell(double value) { return below(4) == 0 ? fmt::format("\"{:g}\"", value) : spell_number(value); }
  std::string spell_number(double value) {
    switch (below(3)) {
      case 0:
        return fmt::format("{:g}", value);
      case 1:
        return fmt::format("{:.10g}", value);
      default:
        return fmt::format("{:e}", value);
    }
  }

 private:
  base::RandomStream random_;
};

std::string unquoted(std::string text) {
  std::erase(text, '"');
  return text;
}

TEST(ResolutionMix, FiveHundredRandomMixesFollowTheRule) {
  testing::TemporaryFolder folder;
  int num_contradictions = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Mixer mixer(seed);
    std::string yaml = "output_dir: out\n";
    std::string json;
    std::vector<std::string> words = {folder.file("run.yaml")};
    std::map<std::string, Said> said;
    for (const Knob& knob : knobs()) {
      Said& one = said[knob.argument];
      one.file = mixer.maybe(knob);
      one.flag = mixer.maybe(knob);
      if (one.file) yaml += fmt::format("{}: {}\n", knob.argument, mixer.spell(*one.file));
      if (one.flag) words.push_back(fmt::format("--{}={}", knob.argument, unquoted(mixer.spell(*one.flag))));
      if (*knob.key == '\0') continue;
      one.json_auto = mixer.below(3) == 0;
      if (!one.json_auto) one.json = mixer.maybe(knob);
      if (one.json_auto) json += fmt::format("\"{}\": \"auto\",", knob.key);
      if (one.json) json += fmt::format("\"{}\": {},", knob.key, mixer.spell_number(*one.json));
    }
    folder.write("run.yaml", yaml);
    words.insert(words.end(), {"--deepspeed", folder.write("ds.json", "{" + json + "}")});
    const Resolution resolution = resolve(read_arguments(words));
    const std::string shown =
        fmt::format("seed {}\n{}{}\n{}\n{}", seed, yaml, json, fmt::join(words, " "), all_text(resolution));
    bool contradicts = false;
    for (const Knob& knob : knobs()) {
      const Expected expected = reference(knob, said[knob.argument]);
      contradicts = contradicts || expected.contradicts;
      if (expected.contradicts) {
        EXPECT_NE(all_text(resolution).find(fmt::format("{} is ", knob.key)), std::string::npos)
            << knob.argument << " " << shown;
        continue;
      }
      EXPECT_EQ(knob.read(resolution.config), expected.value) << knob.argument << " " << shown;
      const ResolvedValue value = value_of(resolution, knob.argument);
      const Said& one = said[knob.argument];
      const std::string origin = one.flag   ? "flag --" + std::string(knob.argument)
                                 : one.file ? folder.file("run.yaml") + ":"
                                 : one.json ? folder.file("ds.json") + ":"
                                            : "default";
      EXPECT_EQ(value.origin.substr(0, origin.size()), origin) << knob.argument << " " << shown;
      EXPECT_EQ(value.beat.find("run.yaml:") != std::string::npos, one.flag && one.file) << shown;
    }
    num_contradictions += contradicts ? 1 : 0;
    std::size_t num_other = 0;
    for (const base::Problem& problem : resolution.problems) {
      num_other +=
          problem.what.starts_with("C0") || problem.what.find("in the DeepSpeed file and") != std::string::npos ? 0 : 1;
    }
    EXPECT_EQ(num_other, 0u) << shown;
  }
  EXPECT_GT(num_contradictions, 50);
  EXPECT_LT(num_contradictions, 450);
}

}  // namespace
}  // namespace athanor::config
