#include "core/config/value_reader.h"

#include <fmt/format.h>

#include "core/base/nearest.h"
#include "core/config/number_text.h"
#include "core/config/value_range.h"

namespace athanor::config::detail {

namespace {

const Field& field_of(const std::string& name) {
  const Field* field = find_training_field(name);
  ATHANOR_CHECK(field != nullptr, "no row for " + name);
  return *field;
}

std::string remedy_for(const Field& field, const char* kind) {
  if (field.default_text.empty()) return fmt::format("write {}", kind);
  return fmt::format("write {} (the default is {})", kind, field.default_text);
}

// transformers' command line turns "true", "3" and "0.5" inside such an object into what they say.
base::JsonValue with_plain_values(const base::JsonValue& value) {
  if (!value.is_string()) return value;
  base::JsonValue plain = value;
  if (value.as_string() == "true" || value.as_string() == "false") {
    plain = base::JsonValue(value.as_string() == "true");
  } else if (const std::optional<double> number = parse_number(value.as_string())) {
    const std::optional<std::int64_t> whole = parse_whole_number(value.as_string());
    plain = whole.has_value() ? base::JsonValue(*whole) : base::JsonValue(*number);
  }
  plain.set_position(value.position());
  return plain;
}

}  // namespace

std::string ValueReader::where(const std::string& name) const {
  const Argument* argument = arguments_.find(name);
  return argument == nullptr ? "default" : argument->place();
}

const ResolvedValue* ValueReader::find(const std::string& name) const {
  for (const ResolvedValue& value : resolution_.values) {
    if (value.name == name) return &value;
  }
  return nullptr;
}

std::string ValueReader::value_of(const std::string& name) const {
  const ResolvedValue* value = find(name);
  return value == nullptr ? "" : value->value;
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
  resolution_.values.push_back({name, shown(*argument), argument->place(), argument->beat.value_or("")});
  return argument;
}

std::optional<std::string> ValueReader::single(const std::string& name) {
  const Argument* argument = take(name);
  if (argument == nullptr) return std::nullopt;
  if (argument->object.has_value() || argument->texts.size() > 1) {
    problem(fmt::format("{} takes one value, not {}", name, shown(*argument)), where(name), "give one value");
  }
  if (argument->object.has_value() || argument->texts.size() != 1) return std::nullopt;
  const std::string& text = argument->texts.front();
  if (text == "None" || text == "null") return std::nullopt;
  return text;
}

std::optional<bool> ValueReader::optional_flag(const std::string& name) {
  const std::optional<std::string> text = single(name);
  if (!text.has_value()) return std::nullopt;
  const std::optional<bool> value = parse_switch(*text);
  if (!value.has_value()) {
    problem(fmt::format("{} must be true or false, not {}", name, *text), where(name), "write true or false");
  }
  return value;
}

bool ValueReader::flag(const std::string& name) {
  return optional_flag(name).value_or(parse_switch(field_of(name).default_text).value_or(false));
}

bool ValueReader::is_in_range(const std::string& name, double value) {
  const std::string& range = field_of(name).range;
  if (range_holds(range, value)) return true;
  problem(fmt::format("{} is {} and must be {}", name, format_number(value), range), where(name),
          fmt::format("give a value {}", range));
  return false;
}

std::optional<double> ValueReader::optional_number(const std::string& name) {
  const std::optional<std::string> text = single(name);
  if (!text.has_value()) return std::nullopt;
  const std::optional<double> value = parse_number(*text);
  if (!value.has_value()) {
    problem(fmt::format("{} must be a number, not {}", name, *text), where(name),
            remedy_for(field_of(name), "a number"));
    return std::nullopt;
  }
  return is_in_range(name, *value) ? value : std::nullopt;
}

double ValueReader::number(const std::string& name) {
  return optional_number(name).value_or(parse_number(field_of(name).default_text).value_or(0.0));
}

std::optional<std::int64_t> ValueReader::optional_integer(const std::string& name) {
  const std::optional<std::string> text = single(name);
  if (!text.has_value()) return std::nullopt;
  const std::optional<std::int64_t> value = parse_whole_number(*text);
  if (!value.has_value()) {
    problem(fmt::format("{} must be a whole number, not {}", name, *text), where(name),
            remedy_for(field_of(name), "a whole number"));
    return std::nullopt;
  }
  return is_in_range(name, static_cast<double>(*value)) ? value : std::nullopt;
}

std::int64_t ValueReader::integer(const std::string& name) {
  return optional_integer(name).value_or(parse_whole_number(field_of(name).default_text).value_or(0));
}

std::string ValueReader::text(const std::string& name) { return single(name).value_or(field_of(name).default_text); }

std::string ValueReader::choice(const std::string& name) {
  const Field& field = field_of(name);
  const std::string value = text(name);
  if (value == field.default_text) return value;
  const std::vector<std::string> choices = choices_of(field.range);
  for (const std::string& known : choices) {
    if (known == value) return value;
    // YAML and flags may say a switch where the choice is "no".
    if (known == "no" && parse_switch(value) == false) return known;
  }
  const std::optional<std::string> nearest = base::nearest_name(value, choices);
  problem(fmt::format("{} does not know {}", name, value), where(name),
          fmt::format("{}use one of {}", nearest.has_value() ? fmt::format("did you mean {}? ", *nearest) : "",
                      fmt::join(choices, ", ")));
  return field.default_text;
}

std::vector<std::string> ValueReader::list(const std::string& name) {
  const Argument* argument = take(name);
  if (argument == nullptr) {
    const std::string& text = field_of(name).default_text;
    return text.empty() ? std::vector<std::string>() : std::vector<std::string>{text};
  }
  if (argument->object.has_value()) {
    problem(fmt::format("{} must be a list of plain values", name), where(name), "write the values themselves");
  }
  return argument->texts;
}

base::JsonValue ValueReader::object(const std::string& name) {
  const Argument* argument = take(name);
  if (argument == nullptr) return base::JsonValue::object();
  base::JsonValue given = base::JsonValue::object();
  if (argument->object.has_value()) {
    given = *argument->object;
  } else if (argument->texts.size() == 1 && argument->texts[0] != "None" && !argument->texts[0].empty()) {
    try {
      given = base::parse_json(argument->texts[0], argument->where);
    } catch (const base::UserError& error) {
      problem(fmt::format("{} is no JSON: {}", name, error.problems().front().what), error.problems().front().where,
              "write '{\"name\": value}' in quotes");
    }
  }
  if (!given.is_object()) {
    problem(fmt::format("{} must be an object, not {}", name, shown(*argument)), where(name),
            "write '{\"name\": value}' in quotes");
    return base::JsonValue::object();
  }
  base::JsonValue plain = base::JsonValue::object();
  for (const base::JsonMember& member : given.members()) {
    if (plain.find(member.key) != nullptr) {
      problem(fmt::format("{} holds {} twice", name, member.key), where(name), "keep one of them");
    }
    plain.set(member.key, with_plain_values(member.value));
  }
  return plain;
}

}  // namespace athanor::config::detail
