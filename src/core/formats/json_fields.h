// Reading the members of a JSON object whose shape a file format fixes; every deviation becomes a problem with its place.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/json.h"

namespace athanor::formats {

class JsonFields {
 public:
  JsonFields(const base::JsonValue& object, std::string name, std::string remedy, base::Problems& problems)
      : object_(object), name_(std::move(name)), remedy_(std::move(remedy)), problems_(problems) {}

  std::string place(const base::JsonValue& value) const {
    return fmt::format("{}:{}:{}", name_, value.position().line, value.position().column);
  }
  void add_problem(std::string what, const base::JsonValue& value) const {
    problems_.add(std::move(what), place(value), remedy_);
  }
  // The member if it is there and not null.
  const base::JsonValue* find(std::string_view key) const {
    const base::JsonValue* value = object_.find(key);
    return value == nullptr || value->is_null() ? nullptr : value;
  }
  // Each gives `fallback` for an absent or null member, and also after it has noted a wrong type.
  bool read_bool(std::string_view key, bool fallback) const {
    const base::JsonValue* value = find(key);
    if (value == nullptr) return fallback;
    if (value->is_bool()) return value->as_bool();
    expect(key, "true/false", *value);
    return fallback;
  }
  std::string read_string(std::string_view key, std::string fallback) const {
    const base::JsonValue* value = find(key);
    if (value == nullptr) return fallback;
    if (value->is_string()) return value->as_string();
    expect(key, "text", *value);
    return fallback;
  }
  std::optional<std::int64_t> read_integer(std::string_view key) const {
    const base::JsonValue* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (value->is_integer()) return value->as_integer();
    expect(key, "a whole number", *value);
    return std::nullopt;
  }

 private:
  void expect(std::string_view key, std::string_view kind, const base::JsonValue& value) const {
    add_problem(fmt::format("\"{}\" must be {}, it is {}", key, kind, base::json_kind_name(value.kind())), value);
  }

  const base::JsonValue& object_;
  std::string name_;
  std::string remedy_;
  base::Problems& problems_;
};

}  // namespace athanor::formats
