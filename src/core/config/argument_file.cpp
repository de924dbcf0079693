#include "core/config/argument_file.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <map>

#include "core/base/file.h"

namespace athanor::config::detail {

namespace {

using base::JsonValue;

std::string place(const std::string& path, const YAML::Mark& mark) {
  return fmt::format("{}:{}:{}", path, mark.line + 1, mark.column + 1);
}

std::string place(const std::string& path, base::Position position) {
  return fmt::format("{}:{}:{}", path, position.line, position.column);
}

bool is_json_path(const std::string& path) { return path.size() > 5 && path.compare(path.size() - 5, 5, ".json") == 0; }

// A YAML scalar in an object: a number or a switch where it reads as one and is not quoted, else text.
JsonValue scalar_to_json(const YAML::Node& node) {
  const std::string text = node.Scalar();
  if (node.Tag() == "!") return text;  // quoted
  if (text == "null" || text == "~" || text.empty()) return nullptr;
  if (text == "true" || text == "True") return true;
  if (text == "false" || text == "False") return false;
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  if (end != nullptr && *end == '\0') return JsonValue::parsed_number(text);
  return text;
}

JsonValue node_to_json(const YAML::Node& node) {
  JsonValue value;
  if (node.IsMap()) {
    value = JsonValue::object();
    for (const auto& entry : node) value.set(entry.first.Scalar(), node_to_json(entry.second));
  } else if (node.IsSequence()) {
    value = JsonValue::array();
    for (const YAML::Node& item : node) value.push_back(node_to_json(item));
  } else if (node.IsScalar()) {
    value = scalar_to_json(node);
  }
  value.set_position({node.Mark().line + 1, node.Mark().column + 1});
  return value;
}

void read_yaml_value(const YAML::Node& node, Argument& argument, std::vector<base::Problem>& problems) {
  if (node.IsMap()) {
    argument.object = node_to_json(node);
    return;
  }
  if (node.IsSequence()) {
    for (const YAML::Node& item : node) {
      if (!item.IsScalar()) {
        problems.push_back({fmt::format("{} must be a list of plain values", argument.name), argument.where,
                            "write the values themselves"});
        return;
      }
      argument.texts.push_back(item.Scalar());
    }
    return;
  }
  if (node.IsScalar()) argument.texts.push_back(node.Scalar());
}

std::vector<Argument> read_yaml(const std::string& path, std::vector<base::Problem>& problems) {
  std::vector<Argument> arguments;
  YAML::Node root;
  try {
    root = YAML::Load(base::read_file(path));
  } catch (const YAML::Exception& error) {
    problems.push_back({fmt::format("the run file is no YAML: {}", error.msg), place(path, error.mark),
                        "mend the line (keys stand at the margin, a colon and a space after each)"});
    return arguments;
  }
  if (root.IsNull()) return arguments;
  if (!root.IsMap()) {
    problems.push_back({"the run file must be a mapping of names to values", path, "write `name: value` lines"});
    return arguments;
  }
  for (const auto& entry : root) {
    Argument argument;
    argument.name = entry.first.Scalar();
    argument.where = place(path, entry.first.Mark());
    if (entry.second.IsNull() || (entry.second.IsScalar() && entry.second.Scalar() == "null")) continue;
    read_yaml_value(entry.second, argument, problems);
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

std::string json_text(const JsonValue& value) {
  if (value.is_string()) return value.as_string();
  return value.is_number() && !value.text().empty() ? value.text() : value.dump();
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
    argument.name = member.key;
    argument.where = place(path, member.key_position);
    if (member.value.is_object()) {
      argument.object = member.value;
    } else if (member.value.is_array()) {
      for (const JsonValue& item : member.value.items()) argument.texts.push_back(json_text(item));
    } else {
      argument.texts.push_back(json_text(member.value));
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

}  // namespace

std::vector<Argument> read_run_file(const std::string& path, std::vector<base::Problem>& problems) {
  try {
    return is_json_path(path) ? read_json(path, problems) : read_yaml(path, problems);
  } catch (const base::UserError& error) {
    problems.insert(problems.end(), error.problems().begin(), error.problems().end());
    return {};
  }
}

}  // namespace athanor::config::detail
