// `athanor-engine train`: resolves the same words as `athanor train` did, and trains.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "core/config/resolution.h"
#include "engine/trainer/trainer.h"
#include "programs/athanor_engine/engine_command.h"
#include "programs/athanor_engine/worker_threads.h"

namespace athanor::engine_program {

namespace {

trainer::Environment look_around(int num_workers) {
  trainer::Environment environment;
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) environment.host = host.data();
  environment.process_id = ::getpid();
  environment.terminal = ::isatty(STDOUT_FILENO) == 1;
  winsize window{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) environment.columns = window.ws_col;
  const int num_cores = static_cast<int>(std::thread::hardware_concurrency());
  environment.parallel_for = parallel_for_on(num_workers > 0 ? num_workers : num_cores);
  return environment;
}

}  // namespace

int run_train(const std::vector<std::string>& words) {
  config::Resolution resolution = config::resolve(config::read_arguments(words));
  if (!resolution.problems.empty()) throw base::UserError(resolution.problems);
  trainer::TrainRequest request;
  request.resolved = config::resolution_to_json(resolution);
  request.config = std::move(resolution.config);
  request.notes = std::move(resolution.notes);
  request.environment = look_around(request.config.data.num_workers);
  return static_cast<int>(trainer::train(request).exit_code);
}

}  // namespace athanor::engine_program
