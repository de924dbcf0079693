#include "core/config/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "core/base/nearest.h"
#include "core/config/argument_fields.h"
#include "core/config/argument_file.h"
#include "core/config/argument_flags.h"
#include "core/config/deepspeed_fields.h"

namespace athanor::config {

namespace {

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

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const auto& [name, field] : fields_by_name()) names.push_back(name);
  return names;
}

// Resolves names, reports unknown ones, and lets flags win over the run file.
class Collector {
 public:
  Collector(ArgumentSet& set, bool allow_unknown) : set_(set), allow_unknown_(allow_unknown) {}

  void add(Argument argument) {
    std::replace(argument.written.begin(), argument.written.end(), '-', '_');
    const Field* field = find_training_field(argument.written);
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
    if (later.is_flag() && !earlier.is_flag()) {
      later.beat = fmt::format("{} ({})", earlier.where, shown(earlier));
      earlier = std::move(later);
      return;
    }
    // Twice from one source. Flags that agree, and two spellings that agree, are no contradiction; a key that stands twice is.
    const bool agree = shown(earlier) == shown(later);
    if (agree && (later.is_flag() || earlier.written != later.written)) return;
    const std::string what = earlier.written == later.written
                                 ? fmt::format("{} is given twice", later.written)
                                 : fmt::format("{} and {} are one argument", earlier.written, later.written);
    set_.problems.push_back({fmt::format("{}: {} and {}", what, shown(earlier), shown(later)),
                             fmt::format("{} and {}", earlier.place(), later.place()), "keep one of them"});
  }

  void report_unknown(const Argument& argument) {
    const std::string& name = argument.written;
    if (allow_unknown_) {
      set_.notes.push_back(fmt::format("{} ({}) is not known and not used", name, argument.place()));
      return;
    }
    set_.problems.push_back({fmt::format("unknown argument {}", name), argument.place(), remedy(name)});
  }

  static std::string remedy(const std::string& name) {
    if (find_deepspeed_field(name) != nullptr) return "it is a DeepSpeed key: write it in the file of --deepspeed";
    const std::optional<std::string> nearest = base::nearest_name(name, all_names());
    if (!nearest.has_value()) return "remove it, or pass --allow_unknown_keys to go on without it";
    return fmt::format("did you mean {0}? (`athanor explain {0}`)", *nearest);
  }

  ArgumentSet& set_;
  bool allow_unknown_;
};

// The last one holds: a flag stands behind the run file.
bool allows_unknown(const std::vector<Argument>& given) {
  bool allows = false;
  for (const Argument& argument : given) {
    if (argument.written != "allow_unknown_keys" || argument.texts.empty()) continue;
    allows = parse_switch(argument.texts.front()).value_or(false);
  }
  return allows;
}

}  // namespace

std::string shown(const Argument& argument) {
  if (argument.object.has_value()) return argument.object->dump();
  return fmt::format("{}", fmt::join(argument.texts, ", "));
}

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
  // Flags first: they name the file. The file is collected first, so that flags win.
  const std::vector<Argument> flags = detail::read_flags(words, set);
  std::vector<Argument> given;
  if (!set.run_file.empty()) given = detail::read_run_file(set.run_file, set.problems);
  given.insert(given.end(), flags.begin(), flags.end());
  Collector collector(set, allows_unknown(given));
  for (const Argument& argument : given) collector.add(argument);
  return set;
}

}  // namespace athanor::config
