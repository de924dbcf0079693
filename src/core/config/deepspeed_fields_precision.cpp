// Number formats in the DeepSpeed schema: fp16, bf16, torch_autocast, data_types.
#include "core/config/deepspeed_rows.h"

namespace athanor::config {
namespace {

using enum FieldType;
constexpr AutoFilled kFilled = AutoFilled::kYes;
constexpr AutoFilled kNotFilled = AutoFilled::kNo;

constexpr const char* kMastersStayFp32 =
    "master weights and optimizer states stay fp32 here, which is more exact and takes more memory";

void add_fp16_rows(std::vector<Field>& rows) {
  add_rows(rows, "", Support::kHonoured, "",
           {{"fp16", kObject, "", "", "", "Half precision with a loss scale.", kNotFilled, "", "bf16"}});
  add_rows(rows, "fp16", Support::kHonoured, "",
           {
               {"enabled", kBool, "false", "", "", "Computes in fp16.", kFilled, "", "bf16.enabled"},
               {"loss_scale", kNumber, "0", ">= 0", "", "Factor on the loss; 0 finds and moves it by itself."},
               {"initial_scale_power", kInteger, "16", "0..127", "", "The first dynamic scale is 2 to this power."},
               {"loss_scale_window", kInteger, "1000", "", "optimizer steps",
                "Steps without overflow after which the scale doubles (the first time one step later)."},
               {"hysteresis", kInteger, "2", ">= 1", "", "Overflows that are forgiven before the scale is halved."},
               {"consecutive_hysteresis", kBool, "false", "", "", "Every step without overflow forgives anew."},
               {"min_loss_scale", kInteger, "1", "", "", "Lowest dynamic scale; an overflow at it stops the run."},
           });
  add_rows(rows, "fp16", Support::kHarmless, "models take token ids, which are never cast",
           {{"auto_cast", kBool, "false", "", "", "Casts floating-point inputs to fp16."}});
  add_rows(rows, "fp16", Support::kHarmless, kMastersStayFp32,
           {{"fp16_master_weights_and_grads", kBool, "false", "", "", "Keeps master weights and gradients in fp16.",
             kNotFilled, "", "zero_optimization.stage"}});
}

void add_bf16_rows(std::vector<Field>& rows) {
  add_rows(rows, "", Support::kHonoured, "",
           {{"bf16", kObject, "", "", "", "bfloat16 precision.", kNotFilled, "bfloat16", "fp16"}});
  add_rows(rows, "bf16", Support::kHonoured, "",
           {
               {"enabled", kBool, "false", "", "", "Computes in bf16.", kFilled, "", "fp16.enabled"},
               {"check_grad_overflow", kBool, "true", "", "", "Skips a step whose gradients are not finite.",
                kNotFilled, "check_overflow"},
           });
  add_rows(rows, "bf16", Support::kHarmless, "gradients are applied at the optimizer step",
           {{"immediate_grad_update", kBool, "false", "", "", "Adds each gradient to the master gradient at once."}});
  add_rows(rows, "bf16", Support::kHarmless, kMastersStayFp32,
           {
               {"bf16_master_weights_and_grads", kBool, "false", "", "", "Keeps master weights and gradients in bf16.",
                kNotFilled, "", "zero_optimization.stage"},
               {"bf16_optimizer_states", kBool, "false", "", "", "Keeps moments in bf16.", kNotFilled, "",
                "bf16.bf16_master_weights_and_grads"},
           });
  // fp16's keys, which DeepSpeed refuses here since its sections became strict.
  add_rows(rows, "bf16", Support::kHarmless, "it belongs to fp16; bf16 has the range of fp32 and needs no loss scale",
           {
               {"auto_cast", kBool, "", "", "", "A key of fp16."},
               {"loss_scale", kNumber, "", "", "", "A key of fp16."},
               {"initial_scale_power", kNumber, "", "", "", "A key of fp16."},
               {"loss_scale_window", kNumber, "", "", "", "A key of fp16."},
               {"hysteresis", kNumber, "", "", "", "A key of fp16."},
               {"consecutive_hysteresis", kBool, "", "", "", "A key of fp16."},
               {"min_loss_scale", kNumber, "", "", "", "A key of fp16."},
           });
}

void add_autocast_rows(std::vector<Field>& rows) {
  add_rows(rows, "", Support::kHonoured, "",
           {
               {"torch_autocast", kObject, "", "", "", "Low precision with fp32 weights, chosen per operation.",
                kNotFilled, "", "bf16.enabled fp16.enabled"},
               {"torch_autocast.enabled", kBool, "false", "", "", "Computes in torch_autocast.dtype."},
               {"torch_autocast.dtype", kChoice, "null",
                "torch.bfloat16|bf16|bfloat16|torch.float16|fp16|float16|half|torch.float32|fp32|float32|float", "",
                "The low precision."},
           });
  add_rows(rows, "torch_autocast", Support::kHarmless,
           "which operations are low precision is fixed here, module by module",
           {{"lower_precision_safe_modules", kList, "null", "", "", "Modules that may run in low precision."}});
}

void add_data_type_rows(std::vector<Field>& rows) {
  constexpr const char* kTypes =
      "torch.float16|fp16|float16|half|torch.float32|fp32|float32|float|torch.int8|int8|torch.bfloat16|bf16|bfloat16";
  add_rows(rows, "", Support::kHarmless, "number formats follow fp16 and bf16",
           {{"data_types", kObject, "", "", "", "Number formats of parts of the training state."}});
  add_rows(rows, "data_types", Support::kHarmless, "gradients are accumulated at least as exactly as this asks for",
           {{"grad_accum_dtype", kChoice, "null", kTypes, "", "Format in which micro-batch gradients are added up."}});
  add_rows(
      rows, "data_types", Support::kHarmless, "number formats follow fp16 and bf16",
      {
          {"param_dtype", kChoice, "null", kTypes, "", "Format of the parameters; it must agree with fp16 and bf16.",
           kNotFilled, "", "fp16.enabled bf16.enabled"},
          {"buffer_dtype", kChoice, "null", kTypes, "", "Format of buffers that are no parameters."},
      });
  add_rows(rows, "data_types", Support::kHarmless, "rotary tables and norm statistics are fp32 here",
           {{"keep_in_fp32_modules", kList, "auto", "", "", "Buffers that stay fp32."}});
}

}  // namespace

void add_precision_rows(std::vector<Field>& rows) {
  add_fp16_rows(rows);
  add_bf16_rows(rows);
  add_autocast_rows(rows);
  add_data_type_rows(rows);
}

}  // namespace athanor::config
