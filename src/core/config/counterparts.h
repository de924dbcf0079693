// Which argument and which DeepSpeed key speak of one thing: "auto" and mismatches go along these pairs.
//
// Source: transformers' HfTrainerDeepSpeedConfig, and what athanor maps beyond it (schedule and optimizer by name, TensorBoard).
#pragma once

#include <string>
#include <vector>

namespace athanor::config {

struct Counterpart {
  const char* argument;
  const char* deepspeed_key;
};

const std::vector<Counterpart>& counterparts();
// The names in the other vocabulary, for either kind of name; empty when there are none.
std::vector<std::string> counterparts_of(const std::string& name);

}  // namespace athanor::config
