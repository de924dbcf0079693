// `athanor explain NAME`: a row of the field tables, for a person.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/nearest.h"
#include "core/config/argument_fields.h"
#include "core/config/counterparts.h"
#include "core/config/deepspeed_fields.h"
#include "programs/athanor/command.h"

namespace athanor::command {

namespace {

using config::Field;
using config::FieldType;
using config::Support;

const char* type_name(FieldType type) {
  switch (type) {
    case FieldType::kBool:
      return "true or false";
    case FieldType::kInteger:
      return "whole number";
    case FieldType::kNumber:
      return "number";
    case FieldType::kText:
      return "text";
    case FieldType::kPath:
      return "path";
    case FieldType::kChoice:
      return "choice";
    case FieldType::kList:
      return "list";
    case FieldType::kObject:
      return "object";
  }
  return "";
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('.') + 1); }

bool matches(const Field& field, const std::string& name) {
  if (field.name == name || last_part(field.name) == name) return true;
  return std::find(field.aliases.begin(), field.aliases.end(), name) != field.aliases.end();
}

void print_line(const char* label, const std::string& text) {
  if (!text.empty()) fmt::print("  {:<10} {}\n", label, text);
}

void print_field(const Field& field) {
  const bool is_training = field.vocabulary == config::Vocabulary::kTraining;
  fmt::print("{}{}\n", is_training ? "--" : "", field.name);
  print_line("in", is_training ? "training arguments (flag or run file)" : "DeepSpeed JSON");
  print_line("means", field.doc);
  print_line("type",
             field.unit.empty() ? type_name(field.type) : fmt::format("{} ({})", type_name(field.type), field.unit));
  print_line("default", field.default_text.empty() ? "none" : field.default_text);
  print_line("range", field.range);
  if (field.allows_auto) print_line("auto", "may be \"auto\"");
  switch (field.support) {
    case Support::kHonoured:
      print_line("here", "done as the reference does it");
      break;
    case Support::kHarmless:
      print_line("here", "accepted without effect: " + field.reason);
      break;
    case Support::kRefused:
      print_line("here", "refused when asked for: " + field.reason);
      break;
  }
  print_line("also", fmt::format("{}", fmt::join(field.aliases, ", ")));
  print_line(is_training ? "DeepSpeed" : "argument",
             fmt::format("{}", fmt::join(config::counterparts_of(field.name), ", ")));
  print_line("touches", fmt::format("{}", fmt::join(field.touches, ", ")));
  print_line("source", field.source);
}

void print_list() {
  for (const auto* fields : {&config::training_fields(), &config::deepspeed_fields()}) {
    for (const Field& field : *fields) {
      const char* mark = field.support == Support::kHonoured ? " " : field.support == Support::kHarmless ? "~" : "x";
      fmt::print("{} {:<50} {}\n", mark, field.name, field.doc);
    }
  }
  fmt::print("\n~ accepted without effect, x refused when asked for\n");
}

// "--learning-rate" -> "learning_rate".
std::string name_of(const std::string& word) {
  std::string name = word.starts_with("--") ? word.substr(2) : word;
  if (name.find('.') == std::string::npos) std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::vector<const Field*> fields_called(const std::string& name) {
  std::vector<const Field*> found;
  for (const auto* fields : {&config::training_fields(), &config::deepspeed_fields()}) {
    for (const Field& field : *fields) {
      if (matches(field, name)) found.push_back(&field);
    }
  }
  return found;
}

base::UserError unknown_name(const std::string& name) {
  std::vector<std::string> names;
  for (const auto* fields : {&config::training_fields(), &config::deepspeed_fields()}) {
    for (const Field& field : *fields) {
      names.push_back(field.name);
      if (last_part(field.name) != field.name) names.push_back(last_part(field.name));
      names.insert(names.end(), field.aliases.begin(), field.aliases.end());
    }
  }
  const std::optional<std::string> nearest = base::nearest_name(name, names);
  return {fmt::format("nothing is called {}", name), "the command line",
          nearest.has_value() ? fmt::format("did you mean {}?", *nearest) : "see `athanor explain --list`"};
}

}  // namespace

int run_explain(CommandLine line) {
  if (line.take_switch("--list")) {
    print_list();
    return 0;
  }
  if (line.words.empty())
    throw base::UserError("explain needs a name", "the command line", "write `athanor explain NAME`, or --list");
  bool first = true;
  for (const std::string& word : line.words) {
    const std::vector<const Field*> fields = fields_called(name_of(word));
    if (fields.empty()) throw unknown_name(name_of(word));
    for (const Field* field : fields) {
      if (!std::exchange(first, false)) fmt::print("\n");
      print_field(*field);
    }
  }
  return 0;
}

}  // namespace athanor::command
