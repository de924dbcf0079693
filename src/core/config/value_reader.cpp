#include "core/config/value_reader.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "core/base/nearest.h"

namespace athanor::config::detail {

std::string format_number(double value) {
  std::string text;
  base::append_json_double(text, value);
  if (text.size() > 2 && text.compare(text.size() - 2, 2, ".0") == 0) text.resize(text.size() - 2);
  return text;
}

namespace {

const Field& field_of(const std::string& name) {
  const Field* field = find_training_field(name);
  ATHANOR_CHECK(field != nullptr, "no row for " + name);
  return *field;
}

std::string shown(const Argument& argument) {
  if (argument.object.has_value()) return argument.object->dump();
  return fmt::format("{}", fmt::join(argument.texts, ", "));
}

// Python's spellings too: 1_000, 5e8, " 3 ".
std::optional<double> parse_number(std::string text) {
  std::erase(text, '_');
  std::erase(text, ' ');
  if (!text.empty() && text[0] == '+') text.erase(0, 1);
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> choices_of(const Field& field) {
  std::vector<std::string> choices;
  std::string_view rest = field.range;
  while (!rest.empty()) {
    const std::size_t bar = rest.find('|');
    choices.emplace_back(rest.substr(0, bar));
    rest = bar == std::string_view::npos ? std::string_view() : rest.substr(bar + 1);
  }
  return choices;
}

}  // namespace

std::string ValueReader::where(const std::string& name) const {
  const Argument* argument = arguments_.find(name);
  if (argument == nullptr) return "the default of " + name;
  return argument->where.rfind("--", 0) == 0 ? "flag " + argument->where : argument->where;
}

void ValueReader::problem(const std::string& what, const std::string& place, const std::string& remedy) {
  resolution_.problems.push_back({what, place, remedy});
}

void ValueReader::record(const std::string& name, const std::string& value, const std::string& origin) {
  for (ResolvedValue& known : resolution_.values) {
    if (known.name != name) continue;
    if (known.origin != "default" && known.value != value)
      known.beat = fmt::format("{} ({})", known.origin, known.value);
    known.value = value;
    known.origin = origin;
    return;
  }
  resolution_.values.push_back({name, value, origin, ""});
}

const Argument* ValueReader::take(const std::string& name) {
  const Argument* argument = arguments_.find(name);
  if (argument == nullptr) {
    record(name, field_of(name).default_text, "default");
    return nullptr;
  }
  resolution_.values.push_back({name, shown(*argument), where(name), argument->beat.value_or("")});
  return argument;
}

std::optional<std::string> ValueReader::single(const std::string& name) {
  const Argument* argument = take(name);
  if (argument == nullptr) return std::nullopt;
  if (argument->object.has_value() || argument->texts.size() != 1) {
    if (argument->object.has_value() || !argument->texts.empty()) {
      problem(fmt::format("{} takes one value, not {}", name, shown(*argument)), where(name), "give one value");
    }
    return std::nullopt;
  }
  return argument->texts.front();
}

std::optional<bool> ValueReader::optional_flag(const std::string& name) {
  const std::optional<std::string> text = single(name);
  if (!text.has_value() || text->empty() || *text == "None" || *text == "none") return std::nullopt;
  const std::optional<bool> value = parse_switch(*text);
  if (!value.has_value()) {
    problem(fmt::format("{} must be true or false, not {}", name, *text), where(name), "write true or false");
  }
  return value;
}

bool ValueReader::flag(const std::string& name) {
  return optional_flag(name).value_or(parse_switch(field_of(name).default_text).value_or(false));
}

std::optional<double> ValueReader::parse(const std::string& name, double minimum) {
  const std::optional<std::string> text = single(name);
  if (!text.has_value() || *text == "None" || *text == "none") return std::nullopt;
  const std::optional<double> value = parse_number(*text);
  if (!value.has_value() || !std::isfinite(*value)) {
    problem(fmt::format("{} must be a number, not {}", name, *text), where(name),
            fmt::format("write a number{}", field_of(name).default_text.empty()
                                                ? ""
                                                : fmt::format(" (the default is {})", field_of(name).default_text)));
    return std::nullopt;
  }
  if (*value < minimum) {
    problem(fmt::format("{} is {}, the least is {}", name, *text, format_number(minimum)), where(name),
            fmt::format("give at least {}", format_number(minimum)));
    return std::nullopt;
  }
  return value;
}

std::optional<double> ValueReader::optional_number(const std::string& name, double minimum) {
  return parse(name, minimum);
}

double ValueReader::number(const std::string& name, double minimum) {
  return parse(name, minimum).value_or(parse_number(field_of(name).default_text).value_or(0.0));
}

std::optional<std::int64_t> ValueReader::optional_integer(const std::string& name, std::int64_t minimum) {
  const std::optional<double> value = parse(name, static_cast<double>(minimum));
  if (!value.has_value()) return std::nullopt;
  if (*value != std::floor(*value) || std::fabs(*value) > 9e15) {
    problem(fmt::format("{} must be a whole number, not {}", name, format_number(*value)), where(name),
            "write a whole number");
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*value);
}

std::int64_t ValueReader::integer(const std::string& name, std::int64_t minimum) {
  return optional_integer(name, minimum)
      .value_or(static_cast<std::int64_t>(parse_number(field_of(name).default_text).value_or(0.0)));
}

std::string ValueReader::text(const std::string& name) { return single(name).value_or(field_of(name).default_text); }

std::string ValueReader::choice(const std::string& name) {
  const Field& field = field_of(name);
  const std::string value = text(name);
  if (value == field.default_text) return value;
  const std::vector<std::string> choices = choices_of(field);
  for (const std::string& known : choices) {
    if (known == value) return value;
    // YAML and flags may say a switch where the choice is "no".
    if (known == "no" && parse_switch(value) == false) return known;
  }
  const std::optional<std::string> nearest = base::nearest_name(value, choices);
  problem(fmt::format("{} does not know {}", name, value), where(name),
          nearest.has_value() ? fmt::format("did you mean {}?", *nearest)
                              : fmt::format("use one of {}", fmt::join(choices, ", ")));
  return field.default_text;
}

std::vector<std::string> ValueReader::list(const std::string& name) {
  const Argument* argument = take(name);
  std::vector<std::string> values;
  if (argument == nullptr) {
    if (!field_of(name).default_text.empty()) values.push_back(field_of(name).default_text);
    return values;
  }
  if (argument->object.has_value()) {
    problem(fmt::format("{} must be a list of plain values", name), where(name), "write the values themselves");
  }
  return argument->texts;
}

base::JsonValue ValueReader::object(const std::string& name) {
  const Argument* argument = take(name);
  if (argument == nullptr) return base::JsonValue::object();
  if (argument->object.has_value()) return *argument->object;
  const std::string text = argument->texts.empty() ? "" : argument->texts.front();
  if (text.empty() || text == "None" || text == "none") return base::JsonValue::object();
  try {
    base::JsonValue value = base::parse_json(text, argument->where);
    if (value.is_object()) return value;
    problem(fmt::format("{} must be a JSON object, not {}", name, text), where(name), "write '{\"name\": value}'");
  } catch (const base::UserError& error) {
    problem(fmt::format("{} is no JSON: {}", name, error.problems().front().what), error.problems().front().where,
            "write '{\"name\": value}' in quotes");
  }
  return base::JsonValue::object();
}

}  // namespace athanor::config::detail
