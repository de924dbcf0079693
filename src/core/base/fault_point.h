// Named dangerous instants that tests can arm in the shipped binary: ATHANOR_FAULT="name[:nth]=kill|throw|enospc|stop".
// An armed binary says so on standard error when it arms, and writes "fault point NAME fired" when it fires, so that a test can
// prove the fault really happened.
#pragma once

#include <string_view>

namespace athanor::base {

enum class FaultPoint {
  kCheckpointBegin,           // the temporary checkpoint folder was made
  kCheckpointMidWrite,        // in the middle of a tensor file
  kCheckpointBeforeManifest,  // all parts are synced, the manifest is not there
  kCheckpointBeforeRename,    // the manifest is there, the folder still has its temporary name
  kCheckpointAfterRename,     // the checkpoint exists, old ones are not yet removed
  kCacheMidWrite,             // in the middle of the token cache
  kCacheBeforeCommit,         // the token cache is written, its index is not
  kStepBegin,                 // before the first micro-batch of an optimizer step
  kStepEnd,                   // after the optimizer step, before it is logged
  kTrainerStateBeforeWrite,   // before trainer_state.json
};

const char* fault_point_name(FaultPoint point);

// Reads the specification once, at program start (programs/ pass the environment variable). Empty disarms.
// Fails: UserError for an unknown point or action.
void arm_fault_points(std::string_view specification);

// Passes unless armed; kill = SIGKILL to this process, throw/enospc = EnvironmentError, stop = SIGSTOP.
void fault_point(FaultPoint point);

}  // namespace athanor::base
