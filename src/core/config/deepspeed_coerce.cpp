#include "core/config/deepspeed_coerce.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/base/nearest.h"

namespace athanor::config {
namespace {

using base::Failure;
using base::JsonValue;
using base::Problem;
using base::Result;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c | 0x20 : c; });
  return text;
}

std::string trim(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return parts;
    begin = end + separator.size();
  }
}

std::optional<double> read_double(const std::string& text) {
  const std::string trimmed = trim(text);
  double value = 0;
  const auto [end, error] = std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), value);
  if (error != std::errc() || end != trimmed.data() + trimmed.size() || trimmed.empty()) return std::nullopt;
  return value;
}

const char* type_words(FieldType type) {
  switch (type) {
    case FieldType::kBool:
      return "true or false";
    case FieldType::kInteger:
      return "a whole number";
    case FieldType::kNumber:
      return "a number";
    case FieldType::kText:
    case FieldType::kChoice:
      return "a text";
    case FieldType::kPath:
      return "a path";
    case FieldType::kList:
      return "a list";
    case FieldType::kObject:
      return "an object in { }";
  }
  return "a value";
}

// What to write instead of a value of the wrong type.
std::string type_remedy(const Field& field, const JsonValue& value) {
  if (value.is_string()) {
    std::string text = value.as_string();
    while (text.ends_with(',')) text.pop_back();
    text = trim(text);
    if (text == "True" || text == "False" || text == "None") {
      return fmt::format("write {} (JSON is no Python; an unquoted text takes the comma with it)",
                         text == "None" ? "null" : lower(text));
    }
    const bool numeric = field.type == FieldType::kInteger || field.type == FieldType::kNumber;
    if (numeric && std::isfinite(read_double(text).value_or(INFINITY)))
      return fmt::format("write {} without quotes", text);
    if (field.type == FieldType::kBool && (lower(text) == "true" || lower(text) == "false")) {
      return fmt::format("write {} without quotes", lower(text));
    }
  }
  if (value.is_array() && value.items().size() == 1 && field.type != FieldType::kList) {
    return fmt::format("write {} without brackets", excerpt(value.items()[0]));
  }
  if (field.type == FieldType::kInteger && value.is_number()) return "write a whole number";
  const char* automatic = field.allows_auto ? ", or \"auto\"" : "";
  const bool has_default = !field.default_text.empty() && field.default_text != "null";
  return fmt::format("write {}{}, or remove the key{}", type_words(field.type), automatic,
                     has_default ? " for the default " + field.default_text : std::string());
}

Failure<Problem> wrong_type(const Field& field, const std::string& path, const JsonValue& value) {
  return Failure{Problem{fmt::format("{} must be {}, and this is {}", path, type_words(field.type), excerpt(value)), "",
                         type_remedy(field, value)}};
}

std::optional<bool> read_bool(const JsonValue& value, Strictness strictness) {
  if (value.is_bool()) return value.as_bool();
  if (value.is_number() && (value.as_double() == 0.0 || value.as_double() == 1.0)) return value.as_double() == 1.0;
  if (!value.is_string() || strictness == Strictness::kLookups) return std::nullopt;
  const std::string text = lower(trim(value.as_string()));
  for (const char* yes : {"true", "1", "yes", "on", "t", "y"}) {
    if (text == yes) return true;
  }
  for (const char* no : {"false", "0", "no", "off", "f", "n"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

// pydantic reads "2" and "2.0" as an integer, but not "5e8".
std::optional<double> read_number(const Field& field, const JsonValue& value, Strictness strictness) {
  if (value.is_number()) return value.as_double();
  if (!value.is_string() || strictness == Strictness::kLookups) return std::nullopt;
  const std::string text = trim(value.as_string());
  if (field.type == FieldType::kInteger && text.find_first_of("eE") != std::string::npos) return std::nullopt;
  return read_double(text);
}

bool in_range(const std::string& range, double value) {
  for (const std::string& part : split(range, ", ")) {
    const std::size_t dots = part.find("..");
    if (dots != std::string::npos) {
      if (value < *read_double(part.substr(0, dots)) || value > *read_double(part.substr(dots + 2))) return false;
    } else if (part.starts_with(">= ")) {
      if (value < *read_double(part.substr(3))) return false;
    } else if (part.starts_with("> ")) {
      if (value <= *read_double(part.substr(2))) return false;
    }
  }
  return true;
}

std::string range_words(const std::string& range) {
  if (range.find("..") == std::string::npos) return range;
  const std::size_t dots = range.find("..");
  return fmt::format("from {} to {}", range.substr(0, dots), range.substr(dots + 2));
}

Failure<Problem> out_of_range(const Field& field, const std::string& path, const std::string& shown) {
  return Failure{
      Problem{fmt::format("{} is {} and must be {}", path, shown, range_words(field.range)), "",
              fmt::format("write a value {}{}", range_words(field.range), field.allows_auto ? ", or \"auto\"" : "")}};
}

Result<JsonValue> coerce_integer(const Field& field, const std::string& path, const JsonValue& value,
                                 Strictness strictness) {
  JsonValue result;
  if (value.is_integer()) {
    result = JsonValue(value.as_integer());
  } else {
    const std::optional<double> number = read_number(field, value, strictness);
    if (!number || !std::isfinite(*number) || *number != std::floor(*number)) return wrong_type(field, path, value);
    constexpr double kLimit = 9223372036854775808.0;  // 2^63
    if (*number >= kLimit || *number < -kLimit) {
      return Failure{
          Problem{fmt::format("{} is {}, which is too large", path, excerpt(value)), "", "write less than 2^63"}};
    }
    result = JsonValue(static_cast<std::int64_t>(*number));
  }
  if (!in_range(field.range, result.as_double())) return out_of_range(field, path, excerpt(value));
  return result;
}

Result<JsonValue> coerce_number(const Field& field, const std::string& path, const JsonValue& value,
                                Strictness strictness) {
  const std::optional<double> number = read_number(field, value, strictness);
  if (!number) return wrong_type(field, path, value);
  if (!std::isfinite(*number)) {
    return Failure{Problem{fmt::format("{} is {}", path, excerpt(value)), "", "write a finite number"}};
  }
  if (!in_range(field.range, *number)) return out_of_range(field, path, excerpt(value));
  return JsonValue(*number);
}

Result<JsonValue> coerce_choice(const Field& field, const std::string& path, const JsonValue& value,
                                Strictness strictness) {
  if (!value.is_string()) return wrong_type(field, path, value);
  const std::vector<std::string> choices = split(field.range, "|");
  for (const std::string& choice : choices) {
    const bool equal =
        strictness == Strictness::kPydantic ? choice == value.as_string() : lower(choice) == lower(value.as_string());
    if (equal) return JsonValue(choice);
  }
  const std::string folded = lower(value.as_string());
  if (choices.front() == "none" && (folded == "cuda" || folded == "gpu")) {
    return Failure{Problem{fmt::format("{} is {}; what stays on the device is not offloaded", path, excerpt(value)), "",
                           "write \"none\", or \"cpu\" for host memory"}};
  }
  const std::optional<std::string> nearest = base::nearest_name(value.as_string(), choices);
  return Failure{Problem{
      fmt::format("{} is {} and must be one of {}", path, excerpt(value), fmt::join(choices, ", ")), "",
      nearest ? fmt::format("write \"{}\"", *nearest) : fmt::format("write one of {}", fmt::join(choices, ", "))}};
}

}  // namespace

std::string excerpt(const JsonValue& value) {
  constexpr std::size_t kLongest = 40;
  std::string text = value.dump();
  if (text.size() <= kLongest) return text;
  std::size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

Result<JsonValue> coerce_value(const Field& field, const std::string& path, const JsonValue& value,
                               Strictness strictness) {
  switch (field.type) {
    case FieldType::kBool: {
      const std::optional<bool> flag = read_bool(value, strictness);
      if (!flag) return wrong_type(field, path, value);
      return JsonValue(*flag);
    }
    case FieldType::kInteger:
      return coerce_integer(field, path, value, strictness);
    case FieldType::kNumber:
      return coerce_number(field, path, value, strictness);
    case FieldType::kChoice:
      return coerce_choice(field, path, value, strictness);
    case FieldType::kText:
    case FieldType::kPath:
      if (!value.is_string()) return wrong_type(field, path, value);
      return JsonValue(value.as_string());
    case FieldType::kList:
      if (!value.is_array()) return wrong_type(field, path, value);
      return value;
    case FieldType::kObject:
      if (!value.is_object()) return wrong_type(field, path, value);
      return value;
  }
  return value;
}

bool equals_default(const Field& field, const JsonValue& value) {
  switch (value.kind()) {
    case base::JsonKind::kBool:
      return field.default_text == (value.as_bool() ? "true" : "false");
    case base::JsonKind::kNumber:
      if (value.is_integer()) return field.default_text == std::to_string(value.as_integer());
      return read_double(field.default_text) == value.as_double();
    case base::JsonKind::kString:
      return field.default_text == value.as_string();
    case base::JsonKind::kArray:
      return field.default_text == value.dump();
    default:
      return false;
  }
}

}  // namespace athanor::config
