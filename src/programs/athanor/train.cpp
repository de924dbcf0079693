// `athanor train`: judges everything that can be judged without a tensor, then becomes the engine with the same words.
#include <fmt/format.h>

#include <cstdlib>

#include "core/base/error.h"
#include "core/config/resolution.h"
#include "programs/athanor/command.h"

namespace athanor::command {

namespace {

struct SizeVariable {
  const char* name;
  const char* needs;  // only meaningful when this is set too; "" otherwise
};

// Launchers say in these how many copies they started. SLURM_NTASKS is also set where no step was launched.
constexpr SizeVariable kSizeVariables[] = {
    {"WORLD_SIZE", ""}, {"OMPI_COMM_WORLD_SIZE", ""}, {"PMI_SIZE", ""}, {"SLURM_NTASKS", "SLURM_STEP_ID"}};

void refuse_several_copies() {
  for (const SizeVariable& variable : kSizeVariables) {
    const char* value = std::getenv(variable.name);
    if (value == nullptr || (variable.needs[0] != '\0' && std::getenv(variable.needs) == nullptr)) continue;
    const long copies = std::strtol(value, nullptr, 10);
    if (copies <= 1) continue;
    throw base::UserError(
        fmt::format("{} copies were started, but this version trains in one process: each would think it is alone",
                    copies),
        fmt::format("{}={} in the environment", variable.name, value),
        "start `athanor train` once, without torchrun, deepspeed, mpirun or srun");
  }
}

}  // namespace

int run_train(CommandLine line) {
  refuse_several_copies();
  const config::Resolution resolution = config::resolve(config::read_arguments(line.words));
  std::vector<base::Problem> problems = resolution.problems;
  if (resolution.config.batch.world_size > 1) {
    problems.push_back({fmt::format("nproc_per_node is {}, and this version trains in one process",
                                    resolution.config.batch.world_size),
                        "nproc_per_node", "set it to 1; gradient_accumulation_steps gives the same global batch"});
  }
  if (!problems.empty()) throw base::UserError(problems);
  std::vector<std::string> words = {"train"};
  words.insert(words.end(), line.words.begin(), line.words.end());
  exec_engine(words);
}

int run_generate(CommandLine line) {
  std::vector<std::string> words = {"generate"};
  words.insert(words.end(), line.words.begin(), line.words.end());
  exec_engine(words);
}

}  // namespace athanor::command
