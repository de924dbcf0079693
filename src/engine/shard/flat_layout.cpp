#include "engine/shard/flat_layout.h"

#include "core/base/error.h"

namespace athanor::shard {

FlatLayout::FlatLayout(const std::vector<architecture::UnitSpec>& units, std::int64_t world_size) {
  const std::int64_t multiple = kUnitAlignment * world_size;
  for (std::size_t u = 0; u < units.size(); ++u) {
    FlatUnit unit;
    unit.name = units[u].name;
    unit.first_parameter = parameters_.size();
    unit.num_parameters = units[u].parameters.size();
    std::int64_t offset = 0;
    for (const architecture::ParameterSpec& spec : units[u].parameters) {
      const std::int64_t num_elements = spec.num_elements();
      parameters_.push_back({spec, u, offset, num_elements});
      offset += num_elements;
    }
    unit.num_elements = (offset + multiple - 1) / multiple * multiple;
    num_parameter_elements_ += offset;
    num_elements_ += unit.num_elements;
    units_.push_back(std::move(unit));
  }
}

const FlatParameter* FlatLayout::find(const std::string& name) const {
  for (const FlatParameter& parameter : parameters_) {
    if (parameter.spec.name == name) return &parameter;
  }
  return nullptr;
}

std::vector<DecaySegment> decay_segments(const FlatLayout& layout, std::size_t unit, DecayRule rule) {
  ATHANOR_CHECK(unit < layout.units().size(), "no such unit");
  const FlatUnit& flat = layout.units()[unit];
  std::vector<DecaySegment> segments;
  for (std::size_t i = 0; i < flat.num_parameters; ++i) {
    const FlatParameter& parameter = layout.parameters()[flat.first_parameter + i];
    const bool decays = rule == DecayRule::kEverything || !parameter.spec.is_bias_or_norm();
    const ElementRange range{parameter.offset, parameter.offset + parameter.num_elements};
    if (!segments.empty() && segments.back().decays == decays) {
      segments.back().range.end = range.end;
    } else {
      segments.push_back({range, decays});
    }
  }
  // Padding is zero with a zero gradient and stays so under every optimizer, in whichever segment it lies.
  if (!segments.empty()) segments.back().range.end = flat.num_elements;
  return segments;
}

}  // namespace athanor::shard
