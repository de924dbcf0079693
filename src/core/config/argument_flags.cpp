#include "core/config/argument_flags.h"

#include <fmt/format.h>

#include <algorithm>

namespace athanor::config::detail {

namespace {

bool is_yaml(const std::string& word) { return word.ends_with(".yaml") || word.ends_with(".yml"); }
bool is_run_file(const std::string& word) { return is_yaml(word) || word.ends_with(".json"); }
bool is_flag(const std::string& word) { return word.size() > 2 && word.starts_with("--"); }

std::string flag_name(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

class FlagReader {
 public:
  FlagReader(const std::vector<std::string>& words, ArgumentSet& set) : words_(words), set_(set) {}

  std::vector<Argument> read() {
    while (at_ < words_.size()) {
      if (is_flag(words_[at_])) {
        read_flag();
      } else {
        read_positional(words_[at_++]);
      }
    }
    settle_bare_deepspeed();
    return std::move(flags_);
  }

 private:
  void read_positional(const std::string& word) {
    if (!is_run_file(word)) {
      set_.problems.push_back({fmt::format("{} belongs to no flag", word), "the command line",
                               "write --name value, or give one run file that ends in .yaml, .yml or .json"});
    } else if (!set_.run_file.empty()) {
      set_.problems.push_back({fmt::format("a second run file: {} and {}", set_.run_file, word), "the command line",
                               "give one run file; flags can be added to it"});
    } else {
      set_.run_file = word;
    }
  }

  void read_flag() {
    const std::string word = words_[at_++];
    const std::size_t equals = word.find('=');
    Argument flag;
    flag.written = flag_name(word.substr(2, equals == std::string::npos ? equals : equals - 2));
    flag.where = "--" + flag.written;
    if (equals != std::string::npos) {
      flag.texts.push_back(word.substr(equals + 1));
    } else if (!turn_off(flag)) {
      read_values(flag, find_training_field(flag.written));
    }
    flags_.push_back(std::move(flag));
  }

  // --no_remove_unused_columns, as transformers' parser makes it for every switch that is on by default.
  static bool turn_off(Argument& flag) {
    constexpr std::string_view kNo = "no_";
    if (!flag.written.starts_with(kNo) || find_training_field(flag.written) != nullptr) return false;
    const std::string name = flag.written.substr(kNo.size());
    const Field* field = find_training_field(name);
    if (field == nullptr || field->type != FieldType::kBool) return false;
    flag.written = name;
    flag.texts.push_back("false");
    return true;
  }

  bool at_value() const { return at_ < words_.size() && !is_flag(words_[at_]); }

  void read_values(Argument& flag, const Field* field) {
    if (field == nullptr) {
      // It will be refused; its value goes with it, so that one slip is one message.
      while (at_value() && !is_yaml(words_[at_])) flag.texts.push_back(words_[at_++]);
      return;
    }
    switch (field->type) {
      case FieldType::kList:
        while (at_value() && !is_yaml(words_[at_])) flag.texts.push_back(words_[at_++]);
        break;
      case FieldType::kBool:
        if (at_value() && (parse_switch(words_[at_]).has_value() || !is_run_file(words_[at_]))) {
          flag.texts.push_back(words_[at_++]);
        } else {
          flag.texts.push_back("true");
        }
        break;
      default:
        if (at_value()) {
          flag.texts.push_back(words_[at_++]);
        } else if (field->support == Support::kRefused) {
          flag.texts.push_back("true");  // a bare --fsdp asks for it
        }
    }
    if (!flag.texts.empty() || field->name == "deepspeed") return;
    set_.problems.push_back(
        {fmt::format("--{} has no value", flag.written), flag.place(),
         fmt::format("write --{} {}", flag.written, field->default_text.empty() ? "VALUE" : field->default_text)});
  }

  // DeepSpeed's own parser has a bare --deepspeed beside --deepspeed_config FILE.
  void settle_bare_deepspeed() {
    const auto bare = std::find_if(flags_.begin(), flags_.end(), [](const Argument& flag) {
      return flag.written == "deepspeed" && flag.texts.empty();
    });
    if (bare == flags_.end()) return;
    const bool has_file = std::any_of(flags_.begin(), flags_.end(), [](const Argument& flag) {
      return flag.written == "deepspeed_config" && !flag.texts.empty();
    });
    flags_.erase(bare);
    if (has_file) return;
    set_.problems.push_back({"--deepspeed has no value", "flag --deepspeed", "write --deepspeed FILE"});
  }

  const std::vector<std::string>& words_;
  ArgumentSet& set_;
  std::vector<Argument> flags_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<Argument> read_flags(const std::vector<std::string>& words, ArgumentSet& set) {
  return FlagReader(words, set).read();
}

}  // namespace athanor::config::detail
