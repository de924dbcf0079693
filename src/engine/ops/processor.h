// What this machine's processor can do, as the kernel lists it in /proc/cpuinfo.
#pragma once

#include <string>

namespace athanor::ops {

struct Processor {
  std::string name;          // "Intel(R) Xeon(R) Platinum 8488C"; empty where the kernel does not say
  bool faster_bf16 = false;  // bf16 products are faster than fp32 ones, see Note [Products without hardware]
  bool knows_fp16 = false;   // libtorch has an fp16 matrix product for it
};

const Processor& processor();  // looked at once

}  // namespace athanor::ops
