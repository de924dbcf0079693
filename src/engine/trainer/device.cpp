#include "engine/trainer/device.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include "core/base/error.h"
#include "engine/ops/processor.h"

namespace athanor::trainer {

namespace {

using config::Precision;

// The driver's own library says the compute capability; no CUDA header is needed for that.
int compute_capability(void* driver) {
  const auto initialize = reinterpret_cast<int (*)(unsigned)>(::dlsym(driver, "cuInit"));
  const auto attribute = reinterpret_cast<int (*)(int*, int, int)>(::dlsym(driver, "cuDeviceGetAttribute"));
  constexpr int kMajor = 75, kMinor = 76;
  int major = 0, minor = 0;
  if (initialize == nullptr || attribute == nullptr || initialize(0) != 0) return 0;
  if (attribute(&major, kMajor, 0) != 0 || attribute(&minor, kMinor, 0) != 0) return 0;
  return 10 * major + minor;
}

void look_for_cuda(Hardware& hardware) {
  void* driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (driver == nullptr) return;
  hardware.cuda_capability = compute_capability(driver);
  if (hardware.cuda_capability == 0) return;  // a driver without a device
  if (::dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    const char* why = ::dlerror();
    hardware.cuda_missing = why == nullptr ? "libtorch_cuda.so could not be loaded" : why;
    return;
  }
  hardware.cuda = at::hasCUDA();
  if (!hardware.cuda) hardware.cuda_missing = "this libtorch has no CUDA support";
}

}  // namespace

Hardware look_at_hardware() {
  Hardware hardware;
  hardware.cpu_bf16 = ops::processor().faster_bf16;
  hardware.processor = ops::processor().name;
  look_for_cuda(hardware);
  return hardware;
}

at::Device choose_device(config::DeviceKind asked, const Hardware& hardware) {
  if (asked == config::DeviceKind::kCpu) return at::kCPU;
  if (hardware.cuda) return at::Device(at::kCUDA, 0);
  if (asked == config::DeviceKind::kCuda) {
    throw base::UserError(
        hardware.cuda_missing.empty() ? "there is no CUDA device" : "CUDA cannot be used: " + hardware.cuda_missing,
        "this machine", "remove --device cuda to train on the processor");
  }
  return at::kCPU;
}

PrecisionChoice choose_precision(const config::PrecisionConfig& config, at::Device device, const Hardware& hardware) {
  constexpr int kAmpere = 80;
  const bool fast_bf16 = device.is_cpu() ? hardware.cpu_bf16 : hardware.cuda_capability >= kAmpere;
  if (!config.automatic) {
    PrecisionChoice choice{config.compute, "as configured", ""};
    if (config.compute == Precision::kFloat32 && fast_bf16)
      choice.hint = "this machine multiplies bf16 matrices faster: --bf16 true";
    if (config.compute == Precision::kFloat16 && fast_bf16)
      choice.hint = "this machine does bf16, which needs no loss scale: --bf16 true";
    return choice;
  }
  if (device.is_cuda() && !fast_bf16) {
    return {Precision::kFloat16, "chosen: this GPU multiplies fp16 matrices and not bf16", ""};
  }
  if (device.is_cuda()) return {Precision::kBfloat16, "chosen: this GPU multiplies bf16 matrices", ""};
  if (fast_bf16) return {Precision::kBfloat16, "chosen: the processor multiplies bf16 matrices", ""};
  return {Precision::kBfloat16, "chosen: no 16-bit type is fast on this processor, and bf16 needs no loss scale", ""};
}

const char* precision_name(Precision precision) {
  switch (precision) {
    case Precision::kFloat32:
      return "fp32";
    case Precision::kBfloat16:
      return "bf16";
    case Precision::kFloat16:
      return "fp16";
  }
  ATHANOR_CHECK(false, "an unknown precision");
}

at::ScalarType scalar_type(Precision precision) {
  switch (precision) {
    case Precision::kFloat32:
      return at::kFloat;
    case Precision::kBfloat16:
      return at::kBFloat16;
    case Precision::kFloat16:
      return at::kHalf;
  }
  ATHANOR_CHECK(false, "an unknown precision");
}

std::string describe_device(at::Device device, const Hardware& hardware) {
  const std::string where = device.is_cpu() ? "cpu: " + hardware.processor
                                            : fmt::format("cuda: compute capability {}.{}",
                                                          hardware.cuda_capability / 10, hardware.cuda_capability % 10);
  return fmt::format("libtorch {}, {} threads, {}", ATHANOR_TORCH_VERSION, at::get_num_threads(), where);
}

}  // namespace athanor::trainer
