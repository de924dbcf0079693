#include "core/architecture/rope_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/base/nearest.h"

namespace athanor::architecture {
namespace {

struct RopeName {
  const char* name;
  RopeType type;
};

constexpr std::array<RopeName, 5> kRopeNames = {{{"default", RopeType::kDefault},
                                                 {"linear", RopeType::kLinear},
                                                 {"dynamic", RopeType::kDynamic},
                                                 {"yarn", RopeType::kYarn},
                                                 {"llama3", RopeType::kLlama3}}};

const std::vector<std::string>& rope_keys() {
  static const std::vector<std::string> keys = {"type",
                                                "rope_type",
                                                "rope_theta",
                                                "factor",
                                                "original_max_position_embeddings",
                                                "attention_factor",
                                                "beta_fast",
                                                "beta_slow",
                                                "mscale",
                                                "mscale_all_dim",
                                                "truncate",
                                                "low_freq_factor",
                                                "high_freq_factor",
                                                "partial_rotary_factor"};
  return keys;
}

// transformers lets a filled rope_scaling win over rope_parameters.
const char* rope_section(const ConfigFields& fields) {
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const base::JsonValue* value = fields.find(key);
    if (value == nullptr) continue;
    if (!value->is_object()) {
      fields.refuse(key, "is no object", fmt::format("write {} as an object with rope_type, or null", key));
    } else if (!value->members().empty()) {
      return key;
    }
  }
  return nullptr;
}

class RopeReader {
 public:
  RopeReader(const ConfigFields& model, const ConfigFields& rope, const char* section, std::int64_t max_positions)
      : model_(model), rope_(rope), section_(section), max_positions_(max_positions) {}

  RopeConfig read(std::int64_t head_dim) {
    check_keys();
    RopeConfig config;
    config.type = read_type();
    config.theta = rope_.number("rope_theta", model_.number("rope_theta", RopeConfig{}.theta));
    if (!(config.theta > 0)) refuse("rope_theta", "is not above 0", "set rope_theta, 10000 is usual");
    if (rope_.number("partial_rotary_factor", model_.number("partial_rotary_factor", 1.0)) != 1.0) {
      refuse("partial_rotary_factor", "is not 1, rotating a part of a head is not supported", "use another model");
    }
    if (config.type == RopeType::kDefault) return config;
    read_factor(config);
    if (config.type == RopeType::kDynamic && head_dim <= 2) {
      refuse("rope_type", "is dynamic, which needs heads of more than 2", "use a larger head_dim");
    }
    if (config.type == RopeType::kYarn) read_yarn(config);
    if (config.type == RopeType::kLlama3) read_llama3(config);
    return config;
  }

 private:
  void refuse(const char* key, const std::string& what, const std::string& remedy) { rope_.refuse(key, what, remedy); }

  void check_keys() {
    for (const base::JsonMember& member : rope_.object().members()) {
      if (std::find(rope_keys().begin(), rope_keys().end(), member.key) != rope_keys().end()) continue;
      const auto nearest = base::nearest_name(member.key, rope_keys());
      rope_.refuse(member.key, fmt::format("in {} is not known", section_),
                   nearest ? fmt::format("did you mean {}?", *nearest) : "remove it");
    }
  }

  RopeType read_type() {
    const std::string key = rope_.has("rope_type") ? "rope_type" : "type";
    if (!rope_.has(key)) {
      const bool plain = !rope_.has("factor");
      if (!plain) refuse("factor", fmt::format("is set and {} has no rope_type", section_), "add \"rope_type\"");
      return RopeType::kDefault;
    }
    const std::string name = rope_.text(key, "default");
    std::vector<std::string> names;
    for (const RopeName& entry : kRopeNames) {
      if (name == entry.name) return entry.type;
      names.emplace_back(entry.name);
    }
    rope_.refuse(key, fmt::format("is {}, which is not supported", name),
                 fmt::format("use a model with one of {}", fmt::join(names, ", ")));
    return RopeType::kDefault;
  }

  void read_factor(RopeConfig& config) {
    const base::JsonValue* written = rope_.object().find("factor");
    if (written == nullptr) {
      rope_.problems().add(fmt::format("{} has no factor", section_), model_.place(section_), "add \"factor\"");
      return;
    }
    // Only yarn derives a factor that is null, below, when the original length is known.
    if (written->is_null() && config.type == RopeType::kYarn) {
      config.factor = 0;
      return;
    }
    config.factor = rope_.number("factor", 0.0);
    if (!(config.factor > 0)) refuse("factor", "is not above 0", "set factor to how many times the context is longer");
  }

  std::int64_t read_original_length() {
    // A value outside of the section wins, as in transformers.
    const ConfigFields& holder = model_.has("original_max_position_embeddings") ? model_ : rope_;
    return holder.count("original_max_position_embeddings", max_positions_);
  }

  void read_yarn(RopeConfig& config) {
    config.original_max_position_embeddings = read_original_length();
    if (config.factor == 0) {
      config.factor =
          static_cast<double>(max_positions_) / static_cast<double>(config.original_max_position_embeddings);
    }
    config.attention_factor = rope_.optional_number("attention_factor");
    config.mscale = rope_.optional_number("mscale");
    config.mscale_all_dim = rope_.optional_number("mscale_all_dim");
    config.truncate = rope_.flag("truncate", true);
    // 0 means the default there, as in transformers.
    for (auto [key, value] : {std::pair("beta_fast", &config.beta_fast), std::pair("beta_slow", &config.beta_slow)}) {
      const double given = rope_.number(key, 0.0);
      if (given != 0) *value = given;
      if (!(*value > 0)) refuse(key, "is not above 0", fmt::format("set {} above 0, or remove it", key));
    }
    if (config.theta == 1.0) refuse("rope_theta", "is 1, which yarn cannot use", "set rope_theta, 10000 is usual");
  }

  void read_llama3(RopeConfig& config) {
    config.original_max_position_embeddings = read_original_length();
    for (const char* key : {"low_freq_factor", "high_freq_factor"}) {
      if (rope_.has(key)) continue;
      rope_.problems().add(fmt::format("{} has no {}, which llama3 needs", section_, key), model_.place(section_),
                           fmt::format("add \"{}\"", key));
    }
    config.low_freq_factor = rope_.number("low_freq_factor", config.low_freq_factor);
    config.high_freq_factor = rope_.number("high_freq_factor", config.high_freq_factor);
    if (!(config.low_freq_factor > 0) || !(config.high_freq_factor > config.low_freq_factor)) {
      refuse("high_freq_factor", "is not above low_freq_factor, which is not above 0",
             "set 0 < low_freq_factor < high_freq_factor");
    }
  }

  const ConfigFields& model_;
  const ConfigFields& rope_;
  const char* section_;
  std::int64_t max_positions_;
};

}  // namespace

RopeConfig parse_rope_config(const ConfigFields& fields, std::int64_t max_position_embeddings, std::int64_t head_dim) {
  const char* const section = rope_section(fields);
  const base::JsonValue none = base::JsonValue::object();
  const ConfigFields rope(section == nullptr ? none : *fields.find(section), fields.name(), fields.problems());
  return RopeReader(fields, rope, section == nullptr ? "rope_parameters" : section, max_position_embeddings)
      .read(head_dim);
}

}  // namespace athanor::architecture
