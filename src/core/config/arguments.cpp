#include "core/config/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/nearest.h"
#include "core/config/argument_fields.h"
#include "core/config/argument_file.h"

namespace athanor::config {

namespace {

std::string underscored(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool is_run_file(const std::string& word) {
  return ends_with(word, ".yaml") || ends_with(word, ".yml") || ends_with(word, ".json");
}

bool is_flag(const std::string& word) { return word.size() > 2 && word[0] == '-' && word[1] == '-'; }

const std::map<std::string, const Field*>& fields_by_name() {
  static const std::map<std::string, const Field*> index = [] {
    std::map<std::string, const Field*> all;
    for (const Field& field : training_fields()) {
      all.emplace(field.name, &field);
      for (const std::string& alias : field.aliases) all.emplace(alias, &field);
    }
    return all;
  }();
  return index;
}

const std::vector<std::string>& all_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const auto& [name, field] : fields_by_name()) {
      if (field->support != Support::kRefused) list.push_back(name);
    }
    return list;
  }();
  return names;
}

std::string shown(const Argument& argument) {
  if (argument.object.has_value()) return argument.object->dump();
  return fmt::format("{}", fmt::join(argument.texts, " "));
}

class FlagReader {
 public:
  FlagReader(const std::vector<std::string>& words, ArgumentSet& set) : words_(words), set_(set) {}

  std::vector<Argument> read() {
    std::vector<Argument> flags;
    for (at_ = 0; at_ < words_.size();) {
      const std::string& word = words_[at_];
      if (is_flag(word)) {
        flags.push_back(read_flag());
      } else {
        read_positional(word);
        ++at_;
      }
    }
    return flags;
  }

 private:
  void read_positional(const std::string& word) {
    if (!is_run_file(word)) {
      set_.problems.push_back({fmt::format("{} belongs to no flag", word), fmt::format("word {}", at_ + 1),
                               "write --name value, or give one run file that ends in .yaml, .yml or .json"});
    } else if (!set_.run_file.empty()) {
      set_.problems.push_back({fmt::format("a second run file: {} and {}", set_.run_file, word), "the command line",
                               "give one run file; flags can be added to it"});
    } else {
      set_.run_file = word;
    }
  }

  Argument read_flag() {
    const std::string word = words_[at_++];
    Argument flag;
    const std::size_t equals = word.find('=');
    flag.name = underscored(word.substr(2, equals == std::string::npos ? equals : equals - 2));
    flag.where = "--" + flag.name;
    if (equals != std::string::npos) {
      flag.texts.push_back(word.substr(equals + 1));
      return flag;
    }
    const Field* field = find_training_field(flag.name);
    const bool is_list = field != nullptr && field->type == FieldType::kList;
    const bool is_switch = field != nullptr && field->type == FieldType::kBool;
    while (at_ < words_.size() && !is_flag(words_[at_])) {
      if (is_switch && !parse_switch(words_[at_]).has_value() && is_run_file(words_[at_])) break;
      flag.texts.push_back(words_[at_++]);
      if (!is_list) break;
    }
    if (flag.texts.empty() && is_switch) flag.texts.push_back("true");
    if (flag.texts.empty() && field != nullptr) {
      set_.problems.push_back(
          {fmt::format("--{} has no value", flag.name), flag.where,
           fmt::format("write --{} {}", flag.name, field->default_text.empty() ? "VALUE" : field->default_text)});
    }
    return flag;
  }

  const std::vector<std::string>& words_;
  ArgumentSet& set_;
  std::size_t at_ = 0;
};

// Resolves names, reports unknown ones, and lets later values win over earlier ones of another source.
class Collector {
 public:
  Collector(ArgumentSet& set, UnknownArguments unknown) : set_(set), unknown_(unknown) {}

  void add(Argument argument) {
    const Field* field = find_training_field(underscored(argument.name));
    if (field == nullptr) {
      report_unknown(argument);
      return;
    }
    argument.name = field->name;
    for (Argument& earlier : set_.arguments) {
      if (earlier.name != argument.name) continue;
      replace(earlier, argument);
      return;
    }
    set_.arguments.push_back(std::move(argument));
  }

 private:
  void replace(Argument& earlier, Argument& later) {
    const bool earlier_is_flag = earlier.where.rfind("--", 0) == 0;
    const bool later_is_flag = later.where.rfind("--", 0) == 0;
    if (earlier_is_flag == later_is_flag) {
      if (shown(earlier) == shown(later) && earlier_is_flag) return;
      set_.problems.push_back({fmt::format("{} is given twice: {} and {}", later.name, shown(earlier), shown(later)),
                               earlier_is_flag ? later.where : fmt::format("{} and {}", earlier.where, later.where),
                               "keep one of them"});
      return;
    }
    later.beat = fmt::format("{} ({})", earlier.where, shown(earlier));
    earlier = std::move(later);
  }

  void report_unknown(const Argument& argument) {
    const std::string name = underscored(argument.name);
    if (unknown_ == UnknownArguments::kWarn) {
      set_.notes.push_back(fmt::format("{} ({}) is not known and not used", name, argument.where));
      return;
    }
    const std::optional<std::string> nearest = base::nearest_name(name, all_names());
    set_.problems.push_back({fmt::format("unknown argument {}", name), argument.where,
                             nearest.has_value()
                                 ? fmt::format("did you mean {}? (`athanor explain {}`)", *nearest, *nearest)
                                 : "remove it, or pass --allow_unknown_keys to go on without it"});
  }

  ArgumentSet& set_;
  UnknownArguments unknown_;
};

UnknownArguments unknown_rule(const std::vector<Argument>& given) {
  for (const Argument& argument : given) {
    if (underscored(argument.name) != "allow_unknown_keys" || argument.texts.empty()) continue;
    return parse_switch(argument.texts.front()).value_or(false) ? UnknownArguments::kWarn : UnknownArguments::kRefuse;
  }
  return UnknownArguments::kRefuse;
}

}  // namespace

const Argument* ArgumentSet::find(const std::string& name) const {
  for (const Argument& argument : arguments) {
    if (argument.name == name) return &argument;
  }
  return nullptr;
}

const Field* find_training_field(const std::string& name) {
  const auto found = fields_by_name().find(name);
  return found == fields_by_name().end() ? nullptr : found->second;
}

std::optional<bool> parse_switch(const std::string& text) {
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* word : {"true", "yes", "on", "1", "y", "t"}) {
    if (lower == word) return true;
  }
  for (const char* word : {"false", "no", "off", "0", "n", "f"}) {
    if (lower == word) return false;
  }
  return std::nullopt;
}

ArgumentSet read_arguments(const std::vector<std::string>& words) {
  ArgumentSet set;
  std::vector<Argument> given = FlagReader(words, set).read();
  const std::size_t num_flags = given.size();
  if (!set.run_file.empty()) {
    std::vector<Argument> from_file = detail::read_run_file(set.run_file, set.problems);
    std::move(from_file.begin(), from_file.end(), std::back_inserter(given));
  }
  Collector collector(set, unknown_rule(given));
  // The file first, so that flags win.
  for (std::size_t i = num_flags; i < given.size(); ++i) collector.add(given[i]);
  for (std::size_t i = 0; i < num_flags; ++i) collector.add(given[i]);
  return set;
}

}  // namespace athanor::config
