#include "engine/ops/processor.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <filesystem>

#include "core/base/file.h"

namespace athanor::ops {
namespace {

bool ask_libtorch(const char* question) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(question, "").typed<bool()>().call();
}

// "flags : ... avx512_bf16 ..." and "model name : ..." of the first processor; empty when there is no such line.
std::string cpuinfo_field(const std::string& cpuinfo, const std::string& field) {
  const std::size_t at = cpuinfo.find(field);
  if (at == std::string::npos) return "";
  const std::size_t colon = cpuinfo.find(':', at);
  const std::size_t end = cpuinfo.find('\n', at);
  if (colon == std::string::npos || end == std::string::npos || colon + 2 > end) return "";
  return cpuinfo.substr(colon + 2, end - colon - 2);
}

Processor look_at_processor() {
  const std::string cpuinfo =
      std::filesystem::exists("/proc/cpuinfo") ? base::read_file("/proc/cpuinfo") : std::string();
  const std::string flags = " " + cpuinfo_field(cpuinfo, "flags") + " ";
  const auto has = [&](const char* flag) { return flags.find(flag) != std::string::npos; };
  Processor result;
  result.name = cpuinfo_field(cpuinfo, "model name");
  result.knows_fp16 = ask_libtorch("mkldnn::_is_mkldnn_fp16_supported");
#if defined(__x86_64__)
  // Intel's AVX-512 dot product does as many multiplications a cycle as two fp32 units; AMD's does twice as many.
  result.faster_bf16 =
      has(" amx_bf16 ") || (has(" avx512_bf16 ") && cpuinfo_field(cpuinfo, "vendor_id") != "GenuineIntel");
#else
  result.faster_bf16 = ask_libtorch("mkldnn::_is_mkldnn_bf16_supported");
#endif
  return result;
}

}  // namespace

const Processor& processor() {
  static const Processor result = look_at_processor();
  return result;
}

}  // namespace athanor::ops
