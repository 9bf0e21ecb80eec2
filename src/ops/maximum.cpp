// src/ops/maximum.cpp
#include "ops/families.h"

namespace natif::ops {

static constexpr base::Diagnostic operand_types{.code = "NTF-MAXIMUM-1",
                                                .text = "tf.maximum takes float32 tensors, or one and a Python number, got {}",
                                                .suggestion = "annotate the operands as float32 tensors",
                                                .example = "tf.maximum(x1, i1)"};

extern constinit const OpDef maximum{
    .summary = "Elementwise larger of x and y; NaN where either is NaN.",
    .spellings = Names{"tf.maximum", "tf.math.maximum"},
    .parameters = Parameters{operand("x"), operand("y"), name_parameter},
    .type_rule = [](const Call& call) { return binary_float32(call, operand_types); },
    .tfe = Tfe{"Maximum"},
    .native = pointwise(apply<ir::Intrinsic::Maximum>),
    .numpy = "np.maximum(x0, x1)",
    .examples = Names{"tf.maximum(x2, y2)", "tf.maximum(x=x3, y=b1)", "tf.maximum(b1, x2, name='r')", "tf.maximum(x2, 2)",
                      "tf.maximum(0, x2)", "tf.maximum(x1, s)"},
    .diagnostics = {&operand_types},
    .seed_rules = {SeedRule{"rextio-tensorflow/maximum-call-f32-cpu", "RXTP-TENSORFLOW-032"}},
};

}  // namespace natif::ops
