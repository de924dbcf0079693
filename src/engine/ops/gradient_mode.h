// What happens to the values a gradient buffer holds before a backward writes to it.
//
// The first micro-batch of a step overwrites, so no buffer is filled with zeros first; later ones accumulate.
#pragma once

namespace athanor::ops {

enum class GradientMode { kOverwrite, kAccumulate };

}  // namespace athanor::ops
