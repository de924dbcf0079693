// Reads one object of a config.json field by field and collects everything that is wrong with it. Internal to this library.
//
// Absent and null mean the same, as in transformers. A field that is wrong gives its fallback, so that reading goes on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/json.h"

namespace athanor::architecture {

class ConfigFields {
 public:
  // `name` is the file for messages; all three must outlive this.
  ConfigFields(const base::JsonValue& object, const std::string& name, base::Problems& problems)
      : object_(object), name_(name), problems_(problems) {}

  // nullptr when absent or null.
  const base::JsonValue* find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }

  // A whole number from `least` to 2^31 - 1.
  std::int64_t count(std::string_view key, std::int64_t fallback, std::int64_t least = 1) const;
  std::optional<std::int64_t> optional_count(std::string_view key, std::int64_t least = 1) const;
  double number(std::string_view key, double fallback) const;
  std::optional<double> optional_number(std::string_view key) const;
  bool flag(std::string_view key, bool fallback) const;
  std::string text(std::string_view key, const std::string& fallback) const;

  // "config.json:12:5", or the name alone for a value that was not read from a file.
  std::string place(std::string_view key) const;
  // The problem is that `key` `what` ("key what").
  void refuse(std::string_view key, const std::string& what, const std::string& remedy) const;

  base::Problems& problems() const { return problems_; }
  const std::string& name() const { return name_; }
  const base::JsonValue& object() const { return object_; }

 private:
  const base::JsonValue& object_;
  const std::string& name_;
  base::Problems& problems_;
};

}  // namespace athanor::architecture
