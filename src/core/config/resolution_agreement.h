// Where the DeepSpeed JSON and an argument speak of one value: what holds, and what to say. Internal to resolution.
//
// Source: transformers' HfTrainerDeepSpeedConfig.fill_match. "auto" takes the argument; a value must agree with an argument that was
// given. Where nobody gave the argument, the JSON's value is taken and said (transformers compares with the default and stops).
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/config/deepspeed.h"
#include "core/config/number_text.h"
#include "core/config/value_reader.h"

namespace athanor::config::detail {

inline std::string text_of(double value) { return format_number(value); }
inline std::string text_of(std::int64_t value) { return std::to_string(value); }
inline std::string text_of(bool value) { return value ? "true" : "false"; }

class Agreement {
 public:
  // Both must outlive this.
  Agreement(const DeepSpeedReading& reading, ValueReader& read) : reading_(reading), read_(read) {}

  template <typename T>
  T agree(const std::string& key, const Setting<T>& setting, const std::string& argument, T ours) {
    if (setting.is_auto) {
      fill(key, text_of(ours), argument);
      return ours;
    }
    if (!setting.value.has_value()) return ours;
    const T theirs = *setting.value;
    // Where both vocabularies have one name, what was given stays as it is recorded.
    if (key != argument || !read_.given(argument)) read_.record(key, text_of(theirs), setting.where);
    if (theirs == ours) return ours;
    if (read_.given(argument)) {
      contradict(key, text_of(theirs), setting.where, argument, text_of(ours));
      return ours;
    }
    take(argument, text_of(theirs), setting.where);
    return theirs;
  }

  // "auto" took what the argument says.
  void fill(const std::string& key, const std::string& value, const std::string& argument) {
    if (key == argument) return;
    read_.record(key, value, fmt::format("auto: {} ({})", argument, read_.where(argument)));
  }

  // The JSON decides about an argument that nobody gave.
  void take(const std::string& argument, const std::string& value, const std::string& where) {
    read_.record(argument, value, where);
    taken_.push_back(fmt::format("{} {} ({})", argument, value, where));
  }

  void contradict(const std::string& key, const std::string& theirs, const std::string& their_place,
                  const std::string& argument, const std::string& ours) {
    read_.problem(fmt::format("{} is {} in the DeepSpeed file and {} is {}", key, theirs, argument, ours),
                  fmt::format("{} and {}", their_place, read_.where(argument)),
                  fmt::format("write the same value in both, or \"auto\" for {} in the DeepSpeed file", key));
  }

  // Says once what take() decided.
  void note_taken() {
    if (taken_.empty()) return;
    read_.note(
        fmt::format("taken from the DeepSpeed file, as no argument says otherwise: {}", fmt::join(taken_, ", ")));
  }

  const DeepSpeedReading& reading() const { return reading_; }
  ValueReader& read() { return read_; }

 private:
  const DeepSpeedReading& reading_;
  ValueReader& read_;
  std::vector<std::string> taken_;
};

// The JSON's optimizer and scheduler sections into `config`; resolution_step.cpp.
void merge_step(Agreement& agreement, RunConfig& config);

}  // namespace athanor::config::detail
