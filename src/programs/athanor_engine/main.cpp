// athanor-engine: the worker. `athanor train` and `athanor generate` become it by exec; launchers may start it themselves.
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <cstdlib>
#include <new>
#include <string_view>

#include "core/base/error.h"
#include "core/base/fault_point.h"
#include "engine/trainer/device.h"
#include "engine/trainer/interrupt.h"
#include "programs/athanor_engine/engine_command.h"

namespace athanor::engine_program {

void print_version() {
  const trainer::Hardware hardware = trainer::look_at_hardware();
  fmt::print("athanor-engine, {}\n",
             trainer::describe_device(trainer::choose_device(config::DeviceKind::kAuto, hardware), hardware));
  if (!hardware.cuda_missing.empty()) fmt::print("there is a GPU, but it cannot be used: {}\n", hardware.cuda_missing);
}

namespace {

constexpr const char* kUsage =
    "usage: athanor-engine train ARGUMENTS     as `athanor train`\n"
    "       athanor-engine generate ARGUMENTS  as `athanor generate`\n"
    "       athanor-engine --version\n";

int run(const std::vector<std::string>& words) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    fmt::print("{}", kUsage);
    return words.empty() ? static_cast<int>(base::ExitCode::kUser) : 0;
  }
  if (words[0] == "--version") {
    print_version();
    return 0;
  }
  trainer::install_interrupt_handlers();
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  if (words[0] == "train") return run_train(rest);
  if (words[0] == "generate") return run_generate(rest);
  throw base::UserError("there is no command " + words[0], "the command line", "use train, generate or --version");
}

}  // namespace

int report_out_of_memory() {
  fmt::print(stderr,
             "athanor: there is not enough memory\n  do: lower per_device_train_batch_size or model_max_length, or set "
             "gradient_checkpointing true\n");
  return static_cast<int>(base::ExitCode::kEnvironment);
}

}  // namespace athanor::engine_program

int main(int argc, char** argv) {
  try {
    const char* faults = std::getenv("ATHANOR_FAULT");
    athanor::base::arm_fault_points(faults == nullptr ? "" : faults);
    return athanor::engine_program::run({argv + 1, argv + argc});
  } catch (const athanor::base::Error& error) {
    fmt::print(stderr, "athanor: {}\n", error.what());
    return static_cast<int>(error.exit_code());
  } catch (const c10::Error& error) {
    // What libtorch says of a broken invariant is a bug of ours and ends loudly; memory is the machine's.
    if (std::string_view(error.what_without_backtrace()).find("allocate memory") == std::string_view::npos) throw;
    return athanor::engine_program::report_out_of_memory();
  } catch (const std::bad_alloc&) {
    return athanor::engine_program::report_out_of_memory();
  }
}
