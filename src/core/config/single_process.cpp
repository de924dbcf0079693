#include "core/config/single_process.h"

#include <fmt/format.h>

#include "core/config/number_text.h"

namespace athanor::config {

namespace {

struct SizeVariable {
  const char* name;
  const char* needs;  // only meaningful when this is set too; "" otherwise
};

// Launchers say in these how many copies they started. SLURM_NTASKS is also set where no step was launched.
constexpr SizeVariable kSizeVariables[] = {
    {"WORLD_SIZE", ""}, {"OMPI_COMM_WORLD_SIZE", ""}, {"PMI_SIZE", ""}, {"SLURM_NTASKS", "SLURM_STEP_ID"}};

}  // namespace

std::vector<base::Problem> problems_of_launch(const EnvironmentLookup& variable) {
  for (const SizeVariable& size : kSizeVariables) {
    const char* value = variable(size.name);
    if (value == nullptr || (size.needs[0] != '\0' && variable(size.needs) == nullptr)) continue;
    const std::int64_t copies = detail::parse_whole_number(value).value_or(1);
    if (copies <= 1) continue;
    return {
        {fmt::format("{} copies were started, but this version trains in one process: each thinks it is alone", copies),
         fmt::format("{}={} in the environment", size.name, value),
         "start `athanor train` once, without torchrun, deepspeed, mpirun or srun"}};
  }
  return {};
}

std::vector<base::Problem> problems_of_world_size(const Resolution& resolution) {
  const std::int64_t world_size = resolution.config.batch.world_size;
  if (world_size == 1) return {};
  std::string where = "nproc_per_node";
  for (const ResolvedValue& value : resolution.values) {
    if (value.name == "nproc_per_node") where = value.origin;
  }
  return {{fmt::format("nproc_per_node is {}, and this version trains in one process", world_size), where,
           "set it to 1; gradient_accumulation_steps gives the same global batch"}};
}

}  // namespace athanor::config
