// Checked values -> DeepSpeedConfig.
#include <cmath>

#include "core/config/deepspeed_fields.h"
#include "core/config/deepspeed_sections.h"

namespace athanor::config {
namespace {

template <typename T, typename Read>
Setting<T> setting(const SchemaCheck& check, const std::string& path, const Read& read) {
  ATHANOR_CHECK(find_deepspeed_field(path) != nullptr, "no row for " + path);
  const CheckedValue* value = check.find(path);
  if (value == nullptr) return {};
  Setting<T> result{.value = std::nullopt, .is_auto = value->is_auto, .where = value->where};
  if (!value->is_auto) result.value = read(value->value);
  return result;
}

Setting<OffloadDevice> device_setting(const SchemaCheck& check, const std::string& path) {
  return setting<OffloadDevice>(check, path, [](const base::JsonValue& value) {
    return value.as_string() == "none" ? OffloadDevice::kNone : OffloadDevice::kCpu;
  });
}

Setting<Precision> precision_setting(const SchemaCheck& check, const std::string& path) {
  return setting<Precision>(check, path, [](const base::JsonValue& value) {
    const std::string& name = value.as_string();
    if (name.find("bf") != std::string::npos) return Precision::kBfloat16;
    return name.find("16") != std::string::npos || name == "half" ? Precision::kFloat16 : Precision::kFloat32;
  });
}

DeepSpeedFp16 bind_fp16(const SchemaCheck& check) {
  return {
      .enabled = bool_setting(check, "fp16.enabled"),
      .loss_scale = number_setting(check, "fp16.loss_scale"),
      .initial_scale_power = integer_setting(check, "fp16.initial_scale_power"),
      .loss_scale_window = integer_setting(check, "fp16.loss_scale_window"),
      .hysteresis = integer_setting(check, "fp16.hysteresis"),
      .consecutive_hysteresis = bool_setting(check, "fp16.consecutive_hysteresis"),
      .min_loss_scale = integer_setting(check, "fp16.min_loss_scale"),
  };
}

DeepSpeedZero bind_zero(const SchemaCheck& check) {
  const std::string zero = "zero_optimization.";
  return {
      .stage = integer_setting(check, zero + "stage"),
      .offload_optimizer_device = device_setting(check, zero + "offload_optimizer.device"),
      .offload_param_device = device_setting(check, zero + "offload_param.device"),
      .reduce_bucket_size = integer_setting(check, zero + "reduce_bucket_size"),
      .stage3_prefetch_bucket_size = integer_setting(check, zero + "stage3_prefetch_bucket_size"),
      .stage3_param_persistence_threshold = integer_setting(check, zero + "stage3_param_persistence_threshold"),
      .stage3_gather_16bit_weights_on_model_save =
          bool_setting(check, zero + "stage3_gather_16bit_weights_on_model_save"),
  };
}

}  // namespace

Setting<bool> bool_setting(const SchemaCheck& check, const std::string& path) {
  return setting<bool>(check, path, [](const base::JsonValue& value) { return value.as_bool(); });
}

Setting<std::int64_t> integer_setting(const SchemaCheck& check, const std::string& path) {
  return setting<std::int64_t>(check, path, [](const base::JsonValue& value) { return value.as_integer(); });
}

Setting<double> number_setting(const SchemaCheck& check, const std::string& path) {
  return setting<double>(check, path, [](const base::JsonValue& value) { return value.as_double(); });
}

Setting<std::string> text_setting(const SchemaCheck& check, const std::string& path) {
  return setting<std::string>(check, path, [](const base::JsonValue& value) { return value.as_string(); });
}

DeepSpeedConfig bind_config(const SchemaCheck& check) {
  DeepSpeedConfig config;
  config.batch = {
      .train_batch_size = integer_setting(check, "train_batch_size"),
      .train_micro_batch_size_per_gpu = integer_setting(check, "train_micro_batch_size_per_gpu"),
      .gradient_accumulation_steps = integer_setting(check, "gradient_accumulation_steps"),
  };
  config.gradient_clipping = number_setting(check, "gradient_clipping");
  config.fp16 = bind_fp16(check);
  config.bf16 = {
      .enabled = bool_setting(check, "bf16.enabled"),
      .check_grad_overflow = bool_setting(check, "bf16.check_grad_overflow"),
  };
  config.torch_autocast = {
      .enabled = bool_setting(check, "torch_autocast.enabled"),
      .dtype = precision_setting(check, "torch_autocast.dtype"),
  };
  config.zero_optimization = bind_zero(check);
  config.communication_data_type = text_setting(check, "communication_data_type");
  config.data_parallel_size = integer_setting(check, "data_parallel_size");
  config.dataloader_drop_last = bool_setting(check, "dataloader_drop_last");
  config.tensorboard = {
      .enabled = bool_setting(check, "tensorboard.enabled"),
      .output_path = text_setting(check, "tensorboard.output_path"),
      .job_name = text_setting(check, "tensorboard.job_name"),
  };
  return config;
}

ScalerConfig DeepSpeedFp16::scaler() const {
  constexpr std::int64_t kInitialScalePower = 16;
  constexpr std::int64_t kLossScaleWindow = 1000;
  ScalerConfig config;
  config.initial_scale = std::ldexp(1.0, static_cast<int>(initial_scale_power.value_or(kInitialScalePower)));
  config.growth_interval = loss_scale_window.value_or(kLossScaleWindow);
  config.hysteresis = hysteresis.value_or(2);
  config.consecutive_hysteresis = consecutive_hysteresis.value_or(false);
  config.minimum_scale = static_cast<double>(min_loss_scale.value_or(1));
  config.rule = ScalerRule::kDeepSpeed;
  if (loss_scale.value_or(0.0) > 0.0) {
    config.rule = ScalerRule::kStatic;
    config.initial_scale = *loss_scale.value;
  }
  return config;
}

}  // namespace athanor::config
