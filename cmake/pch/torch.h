// The tensor type beside what core uses. Operators come one header each.
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>

#include "core.h"
