// Precompiled: the tensor type and the standard headers nearly every engine source needs. Operators come one header each.
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>
