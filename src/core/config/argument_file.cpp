#include "core/config/argument_file.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "core/base/file.h"
#include "core/config/number_text.h"

namespace athanor::config::detail {

namespace {

using base::JsonValue;

std::string place(const std::string& path, base::Position position) {
  return fmt::format("{}:{}:{}", path, position.line, position.column);
}

base::Position position_of(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

bool is_json_path(const std::string& path) { return path.ends_with(".json"); }

bool is_null(const YAML::Node& node) {
  return node.IsNull() || (node.IsScalar() && node.Tag() != "!" && node.Scalar() == "null");
}

// A plain scalar inside an object reads as YAML 1.1 has it, but for numbers: 1e-5 is one. Quoted it is text.
JsonValue scalar_to_json(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return text;
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (lower == "true" || lower == "yes" || lower == "on") return true;
  if (lower == "false" || lower == "no" || lower == "off") return false;
  const std::optional<double> number = parse_number(text);
  if (!number.has_value()) return text;
  const std::optional<std::int64_t> whole = parse_whole_number(text);
  return whole.has_value() ? JsonValue(*whole) : JsonValue(*number);
}

// Keys that stand twice are kept twice, so that whoever reads the object can name both.
JsonValue node_to_json(const YAML::Node& node) {
  JsonValue value;
  if (node.IsMap()) {
    value = JsonValue::object();
    for (const auto& entry : node) {
      value.add_member(entry.first.Scalar(), node_to_json(entry.second), position_of(entry.first.Mark()));
    }
  } else if (node.IsSequence()) {
    value = JsonValue::array();
    for (const YAML::Node& item : node) value.push_back(node_to_json(item));
  } else if (node.IsScalar() && !is_null(node)) {
    value = scalar_to_json(node);
  }
  value.set_position(position_of(node.Mark()));
  return value;
}

void refuse_nesting(const Argument& argument, std::vector<base::Problem>& problems) {
  problems.push_back({fmt::format("{} must be a list of plain values", argument.written), argument.where,
                      "write the values themselves, one after a dash or in [ ]"});
}

void read_yaml_value(const YAML::Node& node, Argument& argument, std::vector<base::Problem>& problems) {
  if (node.IsMap()) {
    argument.object = node_to_json(node);
  } else if (node.IsSequence()) {
    for (const YAML::Node& item : node) {
      if (!item.IsScalar()) return refuse_nesting(argument, problems);
      argument.texts.push_back(item.Scalar());
    }
  } else {
    argument.texts.push_back(node.Scalar());
  }
}

std::vector<Argument> read_yaml(const std::string& path, std::vector<base::Problem>& problems) {
  std::vector<Argument> arguments;
  const std::vector<YAML::Node> documents = YAML::LoadAll(base::read_file(path));
  if (documents.size() > 1) {
    problems.push_back({"the run file holds more than one document", place(path, position_of(documents[1].Mark())),
                        "keep one, without a line of ---"});
    return arguments;
  }
  if (documents.empty() || documents[0].IsNull()) return arguments;
  if (!documents[0].IsMap()) {
    problems.push_back({"the run file must be a mapping of names to values", path, "write `name: value` lines"});
    return arguments;
  }
  for (const auto& entry : documents[0]) {
    if (is_null(entry.second)) continue;
    Argument argument;
    argument.written = entry.first.Scalar();
    argument.where = place(path, position_of(entry.first.Mark()));
    read_yaml_value(entry.second, argument, problems);
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

std::string json_text(const JsonValue& value) {
  if (value.is_string()) return value.as_string();
  return value.is_number() && !value.text().empty() ? value.text() : value.dump();
}

void read_json_value(const JsonValue& value, Argument& argument, std::vector<base::Problem>& problems) {
  if (value.is_object()) {
    argument.object = value;
  } else if (value.is_array()) {
    for (const JsonValue& item : value.items()) {
      if (item.is_object() || item.is_array()) return refuse_nesting(argument, problems);
      argument.texts.push_back(json_text(item));
    }
  } else {
    argument.texts.push_back(json_text(value));
  }
}

std::vector<Argument> read_json(const std::string& path, std::vector<base::Problem>& problems) {
  std::vector<Argument> arguments;
  const JsonValue root = base::parse_json_file(path);
  if (!root.is_object()) {
    problems.push_back({"the run file must be an object of names and values", path, "write {\"name\": value}"});
    return arguments;
  }
  for (const base::JsonMember& member : root.members()) {
    if (member.value.is_null()) continue;
    Argument argument;
    argument.written = member.key;
    argument.where = place(path, member.key_position);
    read_json_value(member.value, argument, problems);
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

}  // namespace

std::vector<Argument> read_run_file(const std::string& path, std::vector<base::Problem>& problems) {
  try {
    return is_json_path(path) ? read_json(path, problems) : read_yaml(path, problems);
  } catch (const YAML::Exception& error) {
    problems.push_back({fmt::format("the run file is no YAML: {}", error.msg), place(path, position_of(error.mark)),
                        "mend the line (keys stand at the margin, a colon and a space after each)"});
  } catch (const base::UserError& error) {
    problems.insert(problems.end(), error.problems().begin(), error.problems().end());
  }
  return {};
}

}  // namespace athanor::config::detail
