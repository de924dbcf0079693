// Comparing the tensors in a model's files with the parameters its configuration asks for.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "core/architecture/model_folder.h"
#include "core/base/error.h"

namespace athanor::architecture {
namespace {

using formats::WeightFiles;

constexpr const char* kEmbedding = "model.embed_tokens.weight";
constexpr const char* kHead = "lm_head.weight";

// One problem for a kind of difference, a line for each tensor.
class DifferenceList {
 public:
  void add(std::string line) { lines_.push_back(std::move(line)); }

  void report(base::Problems& problems, const std::string& singular, const std::string& plural,
              const std::string& where, const std::string& remedy) const {
    if (lines_.empty()) return;
    const std::string head = lines_.size() == 1 ? fmt::format("one tensor {}", singular)
                                                : fmt::format("{} tensors {}", lines_.size(), plural);
    problems.add(fmt::format("{}:\n    {}", head, fmt::join(lines_, "\n    ")), where, remedy);
  }

 private:
  std::vector<std::string> lines_;
};

// Older Llama files carry the rotary frequencies, which follow from the configuration.
bool is_rotary_buffer(std::string_view name) { return name.ends_with("rotary_emb.inv_freq"); }

}  // namespace

ModelWeights::ModelWeights(WeightFiles files, const ModelConfig& config, const std::string& path)
    : files_(std::move(files)), path_(path) {
  base::Problems problems;
  check_head_copy(config, problems);

  DifferenceList missing, misshapen, mistyped, extra;
  std::set<std::string_view> expected;
  std::map<formats::Dtype, std::int64_t> elements;
  const std::vector<UnitSpec> units = list_units(config);
  for (const UnitSpec& unit : units) {
    for (const ParameterSpec& parameter : unit.parameters) {
      expected.insert(parameter.name);
      const bool from_head = embedding_from_head_ && parameter.name == kEmbedding;
      const auto found = files_.find(from_head ? kHead : parameter.name);
      if (!found) {
        missing.add(fmt::format("{} {}", parameter.name, formats::format_shape(parameter.shape)));
        continue;
      }
      const formats::TensorInfo& tensor = *found->info;
      elements[tensor.dtype] += tensor.num_elements();
      if (tensor.shape != parameter.shape) {
        misshapen.add(fmt::format("{} is {}, config.json asks for {}", parameter.name,
                                  formats::format_shape(tensor.shape), formats::format_shape(parameter.shape)));
      }
      if (!formats::is_weight_dtype(tensor.dtype)) {
        mistyped.add(fmt::format("{} is {}", parameter.name, formats::dtype_name(tensor.dtype)));
      }
    }
  }
  std::int64_t num_buffers = 0;
  for (const auto& [name, tensor] : files_.tensors()) {
    if (expected.contains(name) || (config.tie_word_embeddings && name == kHead)) continue;
    if (is_rotary_buffer(name)) {
      ++num_buffers;
    } else {
      extra.add(fmt::format("{} {}", name, formats::format_shape(tensor.info->shape)));
    }
  }
  if (num_buffers > 0) {
    notes_.push_back(
        fmt::format("{} rotary_emb.inv_freq tensors are ignored: they follow from config.json", num_buffers));
  }

  const std::string remedy = "check that config.json and the weights are of the same model";
  missing.report(problems, "is missing", "are missing", path_, remedy);
  misshapen.report(problems, "has another shape", "have another shape", path_, remedy);
  mistyped.report(problems, "has a type that cannot be trained", "have a type that cannot be trained", path_,
                  "use a release in F32, BF16 or F16, or convert the weights");
  extra.report(problems, "is in the files and not in the model", "are in the files and not in the model", path_,
               remedy);
  problems.throw_if_any();
  prevalent_dtype_ = std::max_element(elements.begin(), elements.end(), [](const auto& a, const auto& b) {
                       return a.second < b.second;
                     })->first;
}

WeightFiles::Tensor ModelWeights::tensor(std::string_view parameter) const {
  const auto found = files_.find(embedding_from_head_ && parameter == kEmbedding ? kHead : parameter);
  ATHANOR_CHECK(found.has_value(), fmt::format("{} is no parameter of this model", parameter));
  return *found;
}

// With tied embeddings a file may hold the one matrix under either name, or twice.
void ModelWeights::check_head_copy(const ModelConfig& config, base::Problems& problems) {
  const auto head = files_.find(kHead);
  if (!config.tie_word_embeddings || !head) return;
  const auto embedding = files_.find(kEmbedding);
  if (!embedding) {
    embedding_from_head_ = true;
    return;
  }
  const auto a = embedding->bytes();
  const auto b = head->bytes();
  if (a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0) {
    notes_.push_back("lm_head.weight is ignored: it is the embedding (tie_word_embeddings)");
  } else {
    problems.add("lm_head.weight differs from model.embed_tokens.weight and config.json ties them", head->place(),
                 "set tie_word_embeddings to false in config.json if this model has a head of its own");
  }
}

}  // namespace athanor::architecture
