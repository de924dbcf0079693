// Where and in which precision a run computes: asked for, or chosen by the hardware, always with the reason.
//
// Threads: choose_precision is pure; the others look at the machine.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "core/config/run_config.h"

namespace athanor::trainer {

struct Hardware {
  bool cuda = false;
  int cuda_capability = 0;   // 90 for 9.0; 0 when unknown
  std::string cuda_missing;  // why a GPU that is there cannot be used; empty otherwise
  bool cpu_bf16 = false;     // the processor multiplies bf16 matrices faster than fp32 ones
  std::string processor;     // "AMD EPYC ..."
};
// Loads libtorch's CUDA library when the machine has an NVIDIA driver.
Hardware look_at_hardware();

// Fails: UserError when CUDA is asked for and cannot be had.
at::Device choose_device(config::DeviceKind asked, const Hardware& hardware);

struct PrecisionChoice {
  config::Precision precision = config::Precision::kFloat32;
  std::string reason;  // a clause: "as configured", "the processor multiplies bf16 matrices"
  std::string hint;    // when the hardware could do better; else empty
};
PrecisionChoice choose_precision(const config::PrecisionConfig& config, at::Device device, const Hardware& hardware);

const char* precision_name(config::Precision precision);  // "fp32", "bf16", "fp16"
at::ScalarType scalar_type(config::Precision precision);

// "libtorch 2.15.0, 2 threads, cpu: AMD EPYC ...".
std::string describe_device(at::Device device, const Hardware& hardware);

}  // namespace athanor::trainer
