// Reads a schedule's named options (lr_scheduler_kwargs, DeepSpeed's scheduler.params) and collects what is wrong with them.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/json.h"

namespace athanor::schedule {

class Options {
 public:
  // `owner` is what messages call the place, e.g. "lr_scheduler_kwargs of cosine". `values` must outlive this.
  Options(const base::JsonValue& values, std::string owner);

  // Absent, null and "auto" give the fallback.
  double number(const std::string& name, double fallback);
  std::optional<double> optional_number(const std::string& name);
  double required_number(const std::string& name);
  std::int64_t integer(const std::string& name, std::int64_t fallback);
  std::optional<std::int64_t> optional_integer(const std::string& name);
  // `what` is the word for a switch, e.g. on or off.
  bool flag(const std::string& name, bool fallback);
  std::string choice(const std::string& name, const std::string& fallback, const std::vector<std::string>& choices);

  bool has(const std::string& name) const;      // present, and neither null nor "auto"
  bool is_auto(const std::string& name) const;  // written as "auto"
  void refuse(const std::string& what, const std::string& remedy);
  // Reports names that were never asked for. Fails: UserError with everything collected.
  void finish();

 private:
  const base::JsonValue* find(const std::string& name);
  std::string where(const std::string& name) const;

  const base::JsonValue& values_;
  std::string owner_;
  std::set<std::string> known_;
  base::Problems problems_;
};

}  // namespace athanor::schedule
