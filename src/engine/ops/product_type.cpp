#include "engine/ops/product_type.h"

#include <ATen/core/dispatch/Dispatcher.h>

namespace athanor::ops {
namespace {

bool ask_libtorch(const char* question) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(question, "").typed<bool()>().call();
}

}  // namespace

bool wants_wide_products(const at::Tensor& x) {
  static const bool has_bf16 = ask_libtorch("mkldnn::_is_mkldnn_bf16_supported");
  static const bool has_fp16 = ask_libtorch("mkldnn::_is_mkldnn_fp16_supported");
  if (!x.is_cpu() || x.scalar_type() == at::kFloat) return false;
  return x.scalar_type() == at::kBFloat16 ? !has_bf16 : !has_fp16;
}

}  // namespace athanor::ops
