// Signals that ask the run to end: the step in hand is finished, a checkpoint is written, and the process exits with code 6.
//
// SIGTERM, SIGINT and SIGUSR1 (what Slurm sends ahead of the time limit) ask; a second SIGINT ends the process at once with 130.
// Threads: signal handlers set a flag; every long loop looks at it.
#pragma once

#include <string>

#include "core/base/error.h"

namespace athanor::trainer {

// Installs the handlers for the life of the process. Programs call it once, before any thread exists.
void install_interrupt_handlers();

bool interrupt_requested();
// "SIGTERM"; "" when nothing was requested.
std::string interrupt_name();
// As a signal does; for tests and for loops that are told otherwise.
void request_interrupt(int signal_number);
void clear_interrupt();

// Ends an operation that has nothing to save yet (reading data, loading weights).
class Interrupted : public base::Error {
 public:
  explicit Interrupted(const std::string& during);
};
void throw_if_interrupted(const char* during);

}  // namespace athanor::trainer
