#include "core/config/run_config_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "core/base/error.h"
#include "core/config/run_config_members.h"

namespace athanor::config {

namespace {

using base::JsonValue;
using detail::EnumNames;

class Writer {
 public:
  template <std::size_t N, typename... Members>
  void members(const std::array<const char*, N>& names, Members&... values) {
    static_assert(N == sizeof...(Members));
    std::size_t i = 0;
    (object_.set(names[i++], to_json(values)), ...);
  }
  JsonValue take() { return std::move(object_); }

 private:
  static JsonValue to_json(bool value) { return value; }
  static JsonValue to_json(int value) { return value; }
  static JsonValue to_json(std::int64_t value) { return value; }
  static JsonValue to_json(double value) { return value; }
  static JsonValue to_json(const std::string& value) { return value; }
  static JsonValue to_json(const JsonValue& value) { return value; }

  template <typename T>
  static JsonValue to_json(const std::optional<T>& value) {
    return value.has_value() ? to_json(*value) : JsonValue(nullptr);
  }
  template <typename T>
  static JsonValue to_json(const std::vector<T>& values) {
    JsonValue list = JsonValue::array();
    for (const T& value : values) list.push_back(to_json(value));
    return list;
  }
  static JsonValue to_json(const std::pair<std::string, std::string>& value) {
    return JsonValue::array({JsonValue(value.first), JsonValue(value.second)});
  }
  static JsonValue to_json(const std::map<std::string, double>& values) {
    JsonValue object = JsonValue::object();
    for (const auto& [key, value] : values) object.set(key, value);
    return object;
  }
  template <typename T>
  requires std::is_enum_v<T>
  static JsonValue to_json(T value) {
    for (const auto& [known, name] : EnumNames<T>::kList) {
      if (known == value) return name;
    }
    ATHANOR_CHECK(false, "an enumeration without a name");
  }
  template <typename T>
  requires requires(Writer& writer, T& section) { detail::visit(writer, section); }
  static JsonValue to_json(T& section) {
    Writer writer;
    detail::visit(writer, section);
    return writer.take();
  }

  JsonValue object_ = JsonValue::object();
};

class Reader {
 public:
  Reader(const JsonValue& object, std::string path, const std::string& file, base::Problems& problems)
      : object_(object), path_(std::move(path)), file_(file), problems_(problems) {}

  template <std::size_t N, typename... Members>
  void members(const std::array<const char*, N>& names, Members&... values) {
    static_assert(N == sizeof...(Members));
    std::size_t i = 0;
    (read_member(names[i++], values), ...);
    for (const base::JsonMember& member : object_.members()) {
      if (std::find(names.begin(), names.end(), member.key) == names.end()) refuse(member.key, "is not known");
    }
  }

 private:
  template <typename T>
  void read_member(const std::string& name, T& value) {
    const JsonValue* json = object_.find(name);
    if (json == nullptr) return refuse(name, "is missing");
    if constexpr (requires(Reader & reader, T & section) { detail::visit(reader, section); }) {
      if (!json->is_object()) return refuse(name, "must be an object");
      Reader reader(*json, path_ + name + ".", file_, problems_);
      detail::visit(reader, value);
    } else if (!from_json(*json, value)) {
      refuse(name, fmt::format("cannot be {}", json->dump()));
    }
  }

  void refuse(const std::string& name, const std::string& what) {
    problems_.add(fmt::format("{}{} {}", path_, name, what), file_,
                  "it was written by another version or changed by hand; start the run anew");
  }

  static bool from_json(const JsonValue& json, bool& value) {
    if (!json.is_bool()) return false;
    value = json.as_bool();
    return true;
  }
  static bool from_json(const JsonValue& json, std::int64_t& value) {
    if (!json.is_integer()) return false;
    value = json.as_integer();
    return true;
  }
  static bool from_json(const JsonValue& json, int& value) {
    std::int64_t wide = 0;
    if (!from_json(json, wide) || wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) {
      return false;
    }
    value = static_cast<int>(wide);
    return true;
  }
  static bool from_json(const JsonValue& json, double& value) {
    if (!json.is_number()) return false;
    value = json.as_double();
    return true;
  }
  static bool from_json(const JsonValue& json, std::string& value) {
    if (!json.is_string()) return false;
    value = json.as_string();
    return true;
  }
  static bool from_json(const JsonValue& json, JsonValue& value) {
    value = json;
    return json.is_object();
  }
  template <typename T>
  static bool from_json(const JsonValue& json, std::optional<T>& value) {
    if (json.is_null()) {
      value.reset();
      return true;
    }
    return from_json(json, value.emplace());
  }
  template <typename T>
  static bool from_json(const JsonValue& json, std::vector<T>& values) {
    if (!json.is_array()) return false;
    values.clear();
    for (const JsonValue& item : json.items()) {
      if (!from_json(item, values.emplace_back())) return false;
    }
    return true;
  }
  static bool from_json(const JsonValue& json, std::pair<std::string, std::string>& value) {
    return json.is_array() && json.items().size() == 2 && from_json(json.items()[0], value.first) &&
           from_json(json.items()[1], value.second);
  }
  static bool from_json(const JsonValue& json, std::map<std::string, double>& values) {
    if (!json.is_object()) return false;
    values.clear();
    for (const base::JsonMember& member : json.members()) {
      if (!from_json(member.value, values[member.key])) return false;
    }
    return true;
  }
  template <typename T>
  requires std::is_enum_v<T>
  static bool from_json(const JsonValue& json, T& value) {
    for (const auto& [known, name] : EnumNames<T>::kList) {
      if (!json.is_string() || json.as_string() != name) continue;
      value = known;
      return true;
    }
    return false;
  }

  const JsonValue& object_;
  std::string path_;
  const std::string& file_;
  base::Problems& problems_;
};

}  // namespace

JsonValue run_config_to_json(const RunConfig& config) {
  RunConfig copy = config;  // visitors take members they may change
  Writer writer;
  detail::visit(writer, copy);
  return writer.take();
}

RunConfig run_config_from_json(const JsonValue& json, const std::string& name) {
  RunConfig config;
  base::Problems problems;
  if (!json.is_object()) {
    problems.add("the configuration of a run must be an object", name, "start the run anew");
  } else {
    Reader reader(json, "", name, problems);
    detail::visit(reader, config);
  }
  problems.throw_if_any();
  return config;
}

}  // namespace athanor::config
