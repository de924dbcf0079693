// A tensor that is allocated once and lent out in the shape at hand; it grows when a larger one is asked for.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <cstdint>
#include <initializer_list>

namespace athanor::model {

class Buffer {
 public:
  // A contiguous view of `shape`; its content is whatever was there. Views lent before are not to be used after a larger one.
  at::Tensor shaped(std::initializer_list<std::int64_t> shape, const at::TensorOptions& options) {
    std::int64_t elements = 1;
    for (const std::int64_t size : shape) elements *= size;
    if (!storage_.defined() || storage_.numel() < elements) {
      storage_ = at::Tensor();  // freed before the larger one is made
      storage_ = at::empty({elements}, options);
    }
    return storage_.narrow(0, 0, elements).view(at::IntArrayRef(shape.begin(), shape.size()));
  }
  std::int64_t num_bytes() const { return storage_.defined() ? static_cast<std::int64_t>(storage_.nbytes()) : 0; }

 private:
  at::Tensor storage_;
};

}  // namespace athanor::model
