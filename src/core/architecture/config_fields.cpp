#include "core/architecture/config_fields.h"

#include <fmt/format.h>

#include <limits>

namespace athanor::architecture {
namespace {

constexpr std::int64_t kLargestCount = std::numeric_limits<std::int32_t>::max();

}  // namespace

const base::JsonValue* ConfigFields::find(std::string_view key) const {
  const base::JsonValue* value = object_.find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::int64_t ConfigFields::count(std::string_view key, std::int64_t fallback, std::int64_t least) const {
  return optional_count(key, least).value_or(fallback);
}

std::optional<std::int64_t> ConfigFields::optional_count(std::string_view key, std::int64_t least) const {
  const base::JsonValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_integer() || value->as_integer() < least || value->as_integer() > kLargestCount) {
    refuse(key, fmt::format("is {}, a whole number from {} up is needed", value->dump(), least),
           fmt::format("write {} as a whole number", key));
    return std::nullopt;
  }
  return value->as_integer();
}

double ConfigFields::number(std::string_view key, double fallback) const {
  return optional_number(key).value_or(fallback);
}

std::optional<double> ConfigFields::optional_number(std::string_view key) const {
  const base::JsonValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) {
    refuse(key, fmt::format("is {}, a number is needed", value->dump()), fmt::format("write {} as a number", key));
    return std::nullopt;
  }
  return value->as_double();
}

bool ConfigFields::flag(std::string_view key, bool fallback) const {
  const base::JsonValue* value = find(key);
  if (value == nullptr) return fallback;
  if (!value->is_bool()) {
    refuse(key, fmt::format("is {}, true or false is needed", value->dump()),
           fmt::format("write {} as true or false", key));
    return fallback;
  }
  return value->as_bool();
}

std::string ConfigFields::text(std::string_view key, const std::string& fallback) const {
  const base::JsonValue* value = find(key);
  if (value == nullptr) return fallback;
  if (!value->is_string()) {
    refuse(key, fmt::format("is {}, a text is needed", value->dump()), fmt::format("write {} as a text", key));
    return fallback;
  }
  return value->as_string();
}

std::string ConfigFields::place(std::string_view key) const {
  const base::JsonValue* value = object_.find(key);
  const base::Position position = value == nullptr ? object_.position() : value->position();
  return position.line == 0 ? name_ : fmt::format("{}:{}:{}", name_, position.line, position.column);
}

void ConfigFields::refuse(std::string_view key, const std::string& what, const std::string& remedy) const {
  problems_.add(fmt::format("{} {}", key, what), place(key), remedy);
}

}  // namespace athanor::architecture
