// src/ops/bias_add.cpp
#include "ops/families.h"

namespace natif::ops {

static constexpr base::Diagnostic operand_types{.code = "NTF-BIAS-ADD-1",
                                                .text = "tf.nn.bias_add takes float32 tensors of rank 2 or more and of rank 1, got {}",
                                                .suggestion = "annotate the operands so, or add them with +",
                                                .example = "tf.nn.bias_add(x1, b1)"};
static constexpr base::Diagnostic data_format{
    .code = "NTF-BIAS-ADD-2",
    .text = "data_format has to be a literal that begins with NC, or begins with N and ends with C",
    .suggestion = "write \"NHWC\" or \"NCHW\"",
    .example = "tf.nn.bias_add(x2, b1, data_format='CN')"};

/// TensorFlow's reading of data_format: "NC…" puts the channels second, "N…C" last; nullopt for what it refuses.
static std::optional<std::string> format_of(const Call& call) {
  if (call.absent(2)) return "NHWC";
  const auto* text = call.literal<std::string>(2);
  if (text && text->starts_with("NC")) return "NCHW";
  if (text && text->starts_with("N") && text->ends_with("C")) return "NHWC";
  return std::nullopt;
}

static Verdict type_rule(const Call& call) {
  const ir::Type *value = float32_tensor(call, 0), *bias = float32_tensor(call, 1);
  if (!value || !bias || value->rank() < 2 || bias->rank() != 1) return reject(operand_types, what(call, 0) + " and " + what(call, 1));
  const auto format = format_of(call);
  if (!format) return reject(data_format);
  ir::Type result = *value;
  int64_t& channels = *format == "NCHW" ? result.dims[1] : result.dims.back();
  if (channels == ir::free_size) channels = bias->dims[0];
  return accept(std::move(result), {{"data_format", *format}});
}

extern constinit const OpDef bias_add{
    .summary = "Adds a vector along the channels, which are the last axis or, with data_format=\"NCHW\", the second.",
    .spellings = Names{"tf.nn.bias_add"},
    .parameters = Parameters{operand("value"), operand("bias"), attribute("data_format"), name_parameter},
    .type_rule = type_rule,
    .tfe = Tfe{"BiasAdd", {"data_format"}},
    .native = {.shape = LoopShape::Pointwise,
               .element = apply<ir::Intrinsic::Add>,
               .broadcasting = Broadcasting::LastAxis,
               .applies = [](const ir::Attributes& attributes) { return ir::get<std::string>(attributes, "data_format") == "NHWC"; }},
    .numpy = "x0 + (x1 if data_format == 'NHWC' else x1.reshape(-1, *[1] * (x0.ndim - 2)))",
    .examples = Names{"tf.nn.bias_add(x2, b1)", "tf.nn.bias_add(value=x3, bias=b1, name='b')", "tf.nn.bias_add(x4, b1, data_format='NHWC')",
                      "tf.nn.bias_add(x2, b1, 'NCHW')", "tf.nn.bias_add(x2, b1, 'N...C')", "tf.nn.bias_add(x3, b1, data_format='NCW')"},
    .diagnostics = {&operand_types, &data_format},
    .seed_rules = {SeedRule{"rextio-tensorflow/bias-add-nhwc-f32-cpu-2d", "RXTP-TENSORFLOW-021"}},
};

}  // namespace natif::ops
