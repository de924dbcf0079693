// Where every parameter lies in its unit's flat buffer, and which stretches of the buffer get weight decay. Pure arithmetic.
//
// Layout:  parameters follow each other in list_units order without a gap, so that neighbours (q|k|v, gate|up) can be used as one
//          matrix; the unit is padded with zeros to a multiple of kUnitAlignment x world size.
// Threads: immutable after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/architecture/model_config.h"
#include "engine/shard/policy.h"

namespace athanor::shard {

// A slice starts on a cache line whatever the element type: 64 bytes of the narrowest (bf16) are 32 elements, and two lines are
// what the prefetcher brings.
inline constexpr std::int64_t kUnitAlignment = 64;

struct FlatParameter {
  architecture::ParameterSpec spec;
  std::size_t unit = 0;
  std::int64_t offset = 0;  // elements from the start of the unit
  std::int64_t num_elements = 0;
};

struct FlatUnit {
  std::string name;
  std::size_t first_parameter = 0;  // into FlatLayout::parameters
  std::size_t num_parameters = 0;
  std::int64_t num_elements = 0;  // with padding
};

class FlatLayout {
 public:
  FlatLayout(const std::vector<architecture::UnitSpec>& units, std::int64_t world_size);

  const std::vector<FlatUnit>& units() const { return units_; }
  const std::vector<FlatParameter>& parameters() const { return parameters_; }
  // Padded elements of all units.
  std::int64_t num_elements() const { return num_elements_; }
  // Parameters' elements, without padding.
  std::int64_t num_parameter_elements() const { return num_parameter_elements_; }
  // nullptr when no parameter has this name.
  const FlatParameter* find(const std::string& name) const;

 private:
  std::vector<FlatUnit> units_;
  std::vector<FlatParameter> parameters_;
  std::int64_t num_elements_ = 0;
  std::int64_t num_parameter_elements_ = 0;
};

// A stretch of a unit that one optimizer group covers.
struct DecaySegment {
  ElementRange range;
  bool decays = false;
  bool operator==(const DecaySegment&) const = default;
};

enum class DecayRule {
  kNotBiasesAndNorms,  // HF Trainer's groups
  kEverything,         // one group (an optimizer from a DeepSpeed JSON)
};

// Ascending, covering the unit with its padding; neighbours with the same answer are joined.
std::vector<DecaySegment> decay_segments(const FlatLayout& layout, std::size_t unit, DecayRule rule);

}  // namespace athanor::shard
