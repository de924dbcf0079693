// Typed reading of arguments by name: defaults and ranges from the field table, and a record of where each value came from.
// Internal to resolution.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config/resolution.h"

namespace athanor::config::detail {

class ValueReader {
 public:
  // Both must outlive this.
  ValueReader(const ArgumentSet& arguments, Resolution& resolution) : arguments_(arguments), resolution_(resolution) {}

  bool given(const std::string& name) const { return arguments_.find(name) != nullptr; }
  bool recorded(const std::string& name) const { return find(name) != nullptr; }
  // As recorded; empty when it is not.
  std::string value_of(const std::string& name) const;
  std::size_t num_problems() const { return resolution_.problems.size(); }
  // "flag --seed", "run.yaml:3:1", or "default".
  std::string where(const std::string& name) const;

  // Each records the value. "None" and "null" are as good as absent. What is wrong becomes a problem, and the default is given.
  bool flag(const std::string& name);
  std::optional<bool> optional_flag(const std::string& name);
  std::int64_t integer(const std::string& name);
  std::optional<std::int64_t> optional_integer(const std::string& name);
  double number(const std::string& name);
  std::optional<double> optional_number(const std::string& name);
  std::string text(const std::string& name);
  std::string choice(const std::string& name);  // one of the row's range "a|b|c"
  std::vector<std::string> list(const std::string& name);
  base::JsonValue object(const std::string& name);

  // Replaces the recorded value of `name` (or adds one): what the DeepSpeed JSON or a rule decided.
  void record(const std::string& name, const std::string& value, const std::string& origin);
  void problem(const std::string& what, const std::string& where, const std::string& remedy);
  void note(const std::string& text) { resolution_.notes.push_back(text); }

 private:
  const ResolvedValue* find(const std::string& name) const;
  const Argument* take(const std::string& name);
  // The single text of an argument; nullopt when absent or not single (a problem).
  std::optional<std::string> single(const std::string& name);
  bool is_in_range(const std::string& name, double value);

  const ArgumentSet& arguments_;
  Resolution& resolution_;
};

}  // namespace athanor::config::detail
