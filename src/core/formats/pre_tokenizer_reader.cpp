// "pre_tokenizer" of a tokenizer.json: its stages, and the choice of a scanner for them.
#include <fmt/format.h>

#include <optional>

#include "core/formats/json_fields.h"
#include "core/formats/pre_tokenizer.h"

namespace athanor::formats {

namespace {

using base::JsonValue;

constexpr const char* kRemedy =
    "use a tokenizer.json with byte-level BPE (Split, Digits, ByteLevel), or --tokenizer_name bytes for a model from "
    "scratch";

constexpr std::string_view kGpt2Expression =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view kDeepSeekV3Expression = R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^)"
                                                   "\r\n"
                                                   R"(\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[)"
                                                   "\r\n"
                                                   R"(]*|\s*[)"
                                                   "\r\n"
                                                   R"(]+|\s+(?!\S)|\s+)";
// \r and \n are escapes here; the digits stand between.
constexpr std::string_view kLlama3Start = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|)";
constexpr std::string_view kLlama3End = R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// `pattern` is prefix + a set + "+": the set.
std::optional<std::vector<CodePointRange>> repeated_set(std::string_view pattern, std::string_view prefix) {
  if (!pattern.starts_with(prefix) || !pattern.ends_with('+')) return std::nullopt;
  pattern.remove_prefix(prefix.size());
  pattern.remove_suffix(1);
  return regex_as_set(pattern);
}

}  // namespace

class PreTokenizer::Reader {
 public:
  Reader(std::string name, base::Problems& problems, std::vector<Stage>& stages)
      : name_(std::move(name)), problems_(problems), stages_(stages) {}

  void read(const JsonValue& section) {
    const JsonFields fields(section, name_, kRemedy, problems_);
    if (!section.is_object()) {
      fields.add_problem("there is no pre-tokenizer, so this is no byte-level tokenizer", section);
      return;
    }
    read_stage(section);
    if (problems_.empty() && (stages_.empty() || !std::holds_alternative<ByteLevel>(stages_.back()))) {
      fields.add_problem("the pre-tokenizer does not end in ByteLevel, so this is no byte-level tokenizer", section);
    }
    for (std::size_t i = 0; i + 1 < stages_.size(); ++i) {
      if (std::holds_alternative<ByteLevel>(stages_[i])) {
        fields.add_problem("a pre-tokenizer stage stands after ByteLevel", section);
        return;
      }
    }
  }

 private:
  void read_stage(const JsonValue& value) {
    const JsonFields fields(value, name_, kRemedy, problems_);
    const std::string type = fields.read_string("type", "");
    if (type == "Sequence") {
      const JsonValue* list = fields.find("pretokenizers");
      if (list == nullptr || !list->is_array()) return fields.add_problem("\"pretokenizers\" must be a list", value);
      for (const JsonValue& item : list->items()) read_stage(item);
    } else if (type == "Split") {
      read_split(value, fields);
    } else if (type == "Digits") {
      stages_.emplace_back(Digits{fields.read_bool("individual_digits", false)});
    } else if (type == "ByteLevel") {
      ByteLevel level;
      level.add_prefix_space = fields.read_bool("add_prefix_space", true);
      level.use_regex = fields.read_bool("use_regex", true);
      stages_.emplace_back(std::move(level));
    } else {
      fields.add_problem(fmt::format("the pre-tokenizer \"{}\" is not supported", type), value);
    }
  }

  void read_split(const JsonValue& value, const JsonFields& fields) {
    static const std::pair<const char*, Behavior> behaviors[] = {
        {"Isolated", Behavior::kIsolated},
        {"Removed", Behavior::kRemoved},
        {"MergedWithPrevious", Behavior::kMergedWithPrevious},
        {"MergedWithNext", Behavior::kMergedWithNext},
        {"Contiguous", Behavior::kContiguous},
    };
    Split split;
    const std::string behavior = fields.read_string("behavior", "");
    bool known = false;
    for (const auto& [name, kind] : behaviors) {
      if (behavior == name) {
        split.behavior = kind;
        known = true;
      }
    }
    if (!known) return fields.add_problem(fmt::format("the Split behavior \"{}\" is not known", behavior), value);
    split.invert = fields.read_bool("invert", false);
    const JsonValue* pattern = fields.find("pattern");
    const JsonValue* literal = pattern == nullptr ? nullptr : pattern->find("String");
    const JsonValue* regex = pattern == nullptr ? nullptr : pattern->find("Regex");
    const JsonValue* text = literal != nullptr ? literal : regex;
    if (text == nullptr || !text->is_string() || text->as_string().empty()) {
      return fields.add_problem("Split needs a \"pattern\" with \"Regex\" or \"String\"", value);
    }
    split.pattern = text->as_string();
    split.is_literal = literal != nullptr;
    stages_.emplace_back(std::move(split));
  }

  std::string name_;
  base::Problems& problems_;
  std::vector<Stage>& stages_;
};

PreTokenizer::PreTokenizer(const JsonValue& section, const std::string& name, base::Problems& problems,
                           PreTokenizerEngine engine) {
  Reader(name, problems, stages_).read(section);
  if (!problems.empty()) return;
  if (engine == PreTokenizerEngine::kFastest) scanner_ = find_scanner();
  if (scanner_) return;
  const std::string where = fmt::format("{}:{}:{}", name, section.position().line, section.position().column);
  try {
    for (Stage& stage : stages_) {
      if (auto* split = std::get_if<Split>(&stage); split != nullptr && !split->is_literal) {
        split->regex.emplace_back(split->pattern, where);
      }
      if (auto* level = std::get_if<ByteLevel>(&stage); level != nullptr && level->use_regex) {
        level->regex.emplace_back(kGpt2Expression, where);
      }
    }
  } catch (const base::UserError& error) {
    problems.add(error.problems());
  }
}

const PreTokenizer::Split* PreTokenizer::isolating_split(std::size_t index) const {
  if (index >= stages_.size()) return nullptr;
  const auto* split = std::get_if<Split>(&stages_[index]);
  const bool isolates =
      split != nullptr && !split->is_literal && split->behavior == Behavior::kIsolated && !split->invert;
  return isolates ? split : nullptr;
}

std::unique_ptr<PieceScanner> PreTokenizer::find_scanner() const {
  const auto* level = std::get_if<ByteLevel>(&stages_.back());
  if (level == nullptr || level->add_prefix_space) return nullptr;
  if (stages_.size() == 1) return level->use_regex ? make_gpt2_scanner() : make_whole_scanner();
  const Split* first = isolating_split(0);
  if (first == nullptr || level->use_regex) return nullptr;
  if (stages_.size() == 2) {
    const std::string_view pattern = first->pattern;
    if (!pattern.starts_with(kLlama3Start) || !pattern.ends_with(kLlama3End)) return nullptr;
    const std::string_view digits =
        pattern.substr(kLlama3Start.size(), pattern.size() - kLlama3Start.size() - kLlama3End.size());
    if (digits == R"(\p{N}{1,3})") return make_llama3_scanner(3);
    if (digits == R"(\p{N})") return make_llama3_scanner(1);
    return nullptr;
  }
  const Split* second = isolating_split(1);
  const Split* third = isolating_split(2);
  if (second == nullptr || third == nullptr) return nullptr;
  if (stages_.size() == 4 && first->pattern == R"(\p{N}{1,3})" && third->pattern == kDeepSeekV3Expression) {
    const auto han = repeated_set(second->pattern, "");
    return han ? make_deepseek_v3_scanner(*han) : nullptr;
  }
  return find_staged_scanner();
}

std::unique_ptr<PieceScanner> PreTokenizer::find_staged_scanner() const {
  const std::size_t num_stages = stages_.size();
  if (num_stages != 6 && num_stages != 7) return nullptr;
  const auto* digits = std::get_if<Digits>(&stages_[num_stages - 2]);
  if (digits == nullptr || !digits->individual || isolating_split(0)->pattern != "[\r\n]") return nullptr;
  StagedScannerSets sets;
  const Split* han_split = isolating_split(num_stages - 3);
  if (num_stages == 7) {
    const Split* trailing = isolating_split(3);
    if (trailing == nullptr || trailing->pattern != R"(\s+$)") return nullptr;
    sets.isolate_trailing_space = true;
  }
  if (han_split == nullptr) return nullptr;
  auto word = repeated_set(isolating_split(1)->pattern, R"(\s?)");
  auto punctuation = repeated_set(isolating_split(2)->pattern, R"(\s?)");
  auto han = repeated_set(han_split->pattern, "");
  if (!word || !punctuation || !han) return nullptr;
  sets.word = std::move(*word);
  sets.punctuation = std::move(*punctuation);
  sets.han = std::move(*han);
  return make_staged_scanner(sets);
}

}  // namespace athanor::formats
