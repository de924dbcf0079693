// Typed reading of arguments by name, with defaults from the field table; records where each value came from. Internal to resolution.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config/resolution.h"

namespace athanor::config::detail {

std::string format_number(double value);

class ValueReader {
 public:
  ValueReader(const ArgumentSet& arguments, Resolution& resolution) : arguments_(arguments), resolution_(resolution) {}

  bool given(const std::string& name) const { return arguments_.find(name) != nullptr; }
  std::string where(const std::string& name) const;

  bool flag(const std::string& name);
  std::optional<bool> optional_flag(const std::string& name);
  std::int64_t integer(const std::string& name, std::int64_t minimum);
  std::optional<std::int64_t> optional_integer(const std::string& name, std::int64_t minimum);
  double number(const std::string& name, double minimum);
  std::optional<double> optional_number(const std::string& name, double minimum);
  std::string text(const std::string& name);
  // One of the field's range "a|b|c".
  std::string choice(const std::string& name);
  std::vector<std::string> list(const std::string& name);
  base::JsonValue object(const std::string& name);

  // Replaces the recorded value of `name` (or adds one): what the DeepSpeed JSON or a rule decided.
  void record(const std::string& name, const std::string& value, const std::string& origin);
  void problem(const std::string& what, const std::string& where, const std::string& remedy);
  void note(const std::string& text) { resolution_.notes.push_back(text); }

 private:
  const Argument* take(const std::string& name);
  // The single text of an argument; nullopt when absent (the default is recorded) or not single (a problem is recorded).
  std::optional<std::string> single(const std::string& name);
  std::optional<double> parse(const std::string& name, double minimum);

  const ArgumentSet& arguments_;
  Resolution& resolution_;
};

}  // namespace athanor::config::detail
