// Where a decoder finds its parameters and leaves its gradients. The model knows no sharding: it says which unit it is about
// to use, that it is done with it, and when a gradient is whole; a store gathers, frees and reduces at these edges.
//
// Units:   indices into architecture::list_units(config); tensors in the order of UnitSpec::parameters, in its shapes.
// Types:   parameters in the compute type (fp32, bf16 or fp16); gradients in fp32 or in the compute type, one type per store.
// Layout:  every tensor is contiguous. Tensors of one unit that follow each other without a gap in one storage let the model
//          join matrix multiplies (q|k|v, gate|up); nothing but speed depends on it.
// Owns:    the tensors belong to the store. A span is valid until release() (parameters) or gradients_ready() (gradients).
// Order:   one forward_backward() makes these calls, the same on every rank and with or without recomputation:
//              embedding, layers 0..n-1 : parameters(u) ... release(u)
//              head (loss and its gradient): parameters(head) [parameters(embedding) when tied] gradients(head)
//                  [gradients(embedding) when tied] ... gradients_ready(head), release(...)
//              layers n-1..0            : parameters(u) gradients(u) ... gradients_ready(u) release(u)
//              embedding                : gradients(embedding) ... gradients_ready(embedding)
//          parameters() and release() come in pairs; gradients() may come twice before gradients_ready() (tied embedding) and
//          then gives the same tensors with their values kept. gradients_ready() comes exactly once for each unit.
// Threads: confined to the training thread.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <span>

#include "engine/ops/gradient_mode.h"

namespace athanor::model {

using ops::GradientMode;

class UnitStore {
 public:
  virtual ~UnitStore() = default;

  // Makes the unit's parameters present (a sharded store gathers them) and gives views of them.
  virtual std::span<const at::Tensor> parameters(std::size_t unit) = 0;
  // The model does not read the unit again until the next parameters(unit); a sharded store may free it.
  virtual void release(std::size_t unit) = 0;

  // Buffers the model writes the unit's gradients to, in the GradientMode that forward_backward() was called with.
  virtual std::span<const at::Tensor> gradients(std::size_t unit) = 0;
  // The unit's gradients of this micro-batch are whole; a sharded store may start to reduce them.
  virtual void gradients_ready(std::size_t unit) = 0;
};

}  // namespace athanor::model
