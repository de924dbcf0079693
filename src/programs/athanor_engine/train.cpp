// `athanor-engine train`: resolves the same words as `athanor train` did, and trains.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <thread>

#include "core/config/resolution.h"
#include "core/config/run_config_json.h"
#include "core/config/single_process.h"
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
  base::Problems problems;
  problems.add(config::problems_of_launch([](const char* name) { return std::getenv(name); }));
  problems.throw_if_any();
  config::ResolveOptions options;
  if (const char* home = std::getenv("HOME")) options.home_folder = home;
  config::Resolution resolution = config::resolve(config::read_arguments(words), options);
  problems.add(resolution.problems);
  problems.add(config::problems_of_world_size(resolution));
  problems.throw_if_any();
  trainer::TrainRequest request;
  request.resolved.set("values", config::resolution_to_json(resolution));
  request.resolved.set("config", config::run_config_to_json(resolution.config));
  request.config = std::move(resolution.config);
  request.notes = std::move(resolution.notes);
  request.environment = look_around(request.config.data.num_workers);
  return static_cast<int>(trainer::train(request).exit_code);
}

}  // namespace athanor::engine_program
