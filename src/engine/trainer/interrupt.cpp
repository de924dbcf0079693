#include "engine/trainer/interrupt.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>

namespace athanor::trainer {

namespace {

constexpr int kExitAtOnce = 130;

std::atomic<int> requested_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

void on_signal(int signal_number) {
  const int before = requested_signal.exchange(signal_number);
  if (before == SIGINT && signal_number == SIGINT) ::_exit(kExitAtOnce);
}

}  // namespace

void install_interrupt_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  ::sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (const int signal_number : {SIGTERM, SIGINT, SIGUSR1}) ::sigaction(signal_number, &action, nullptr);
  // A reader of our output that goes away is no reason to lose the run.
  ::signal(SIGPIPE, SIG_IGN);
}

bool interrupt_requested() { return requested_signal.load(std::memory_order_relaxed) != 0; }

std::string interrupt_name() {
  switch (requested_signal.load()) {
    case 0:
      return "";
    case SIGTERM:
      return "SIGTERM";
    case SIGINT:
      return "SIGINT";
    case SIGUSR1:
      return "SIGUSR1";
    default:
      return fmt::format("signal {}", requested_signal.load());
  }
}

void request_interrupt(int signal_number) { requested_signal = signal_number; }
void clear_interrupt() { requested_signal = 0; }

Interrupted::Interrupted(const std::string& during)
    : base::Error(base::ExitCode::kInterrupted,
                  fmt::format("{} while {}: nothing to save yet", interrupt_name(), during)) {}

void throw_if_interrupted(const char* during) {
  if (interrupt_requested()) throw Interrupted(during);
}

}  // namespace athanor::trainer
