#include "engine/shard/flat_buffer.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>
#include <errno.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include "core/base/error.h"

namespace athanor::shard {

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

at::Tensor allocate_flat(std::int64_t num_elements, at::ScalarType type, at::Device device) {
  const std::size_t num_bytes = static_cast<std::size_t>(num_elements) * c10::elementSize(type);
  if (!device.is_cpu() || num_bytes < kHugePage) {
    return at::zeros({num_elements}, at::TensorOptions().dtype(type).device(device));
  }
  // Room to begin on a huge page's border; what lies before the border is never touched and costs nothing.
  const std::size_t mapped_bytes = num_bytes + kHugePage;
  void* mapped = ::mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    throw base::EnvironmentError(
        fmt::format("there is no memory for {} MB of parameters and optimizer state", num_bytes >> 20), "this machine",
        "train a smaller model, or use a machine with more memory", errno);
  }
  const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(mapped);
  void* begin = reinterpret_cast<void*>((address + kHugePage - 1) / kHugePage * kHugePage);
  ::madvise(begin, num_bytes, MADV_HUGEPAGE);  // a wish: where it is not granted, ordinary pages do
  return at::from_blob(
      begin, {num_elements}, [mapped, mapped_bytes](void*) { ::munmap(mapped, mapped_bytes); },
      at::TensorOptions().dtype(type));
}

}  // namespace athanor::shard
