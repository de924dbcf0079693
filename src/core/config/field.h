// The field table: one row per key that a person can set, in either vocabulary. Parser, validator, `athanor explain KEY`,
// docs/reference/config.md and the shell completion are all made from these rows.
#pragma once

#include <string>
#include <vector>

namespace athanor::config {

enum class Vocabulary { kTraining, kDeepSpeed };  // Hugging Face TrainingArguments + ours; DeepSpeed JSON

enum class FieldType { kBool, kInteger, kNumber, kText, kPath, kChoice, kList, kObject };

// What athanor does with the key.
enum class Support {
  kHonoured,  // it does what the reference does
  kHarmless,  // it has no effect here that a person could notice; said once when set to something other than its default
  kRefused,   // known to the reference, not done here; `reason` says why and what to use
};

struct Field {
  Vocabulary vocabulary;
  std::string name;  // "learning_rate"; "zero_optimization.stage" (dotted path)
  FieldType type;
  std::string default_text;  // as a person would write it; "" when there is none
  std::string unit;          // "tokens", "optimizer steps", "elements", ... or ""
  std::string range;         // "> 0", "0..3", "a|b|c", or ""
  bool allows_auto = false;
  Support support = Support::kHonoured;
  std::string doc;                   // one sentence
  std::string reason;                // for kHarmless and kRefused
  std::vector<std::string> aliases;  // other spellings that are read (older releases, short flags)
  std::vector<std::string> touches;  // keys whose value or meaning depends on this one
  std::string source;                // "transformers 5", "transformers 4", "DeepSpeed 0.19", "LLaMA-Factory", "athanor"
};

}  // namespace athanor::config
