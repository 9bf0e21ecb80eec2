// src/ops/subtract.cpp
#include "ops/families.h"

namespace natif::ops {

static constexpr base::Diagnostic operand_types{.code = "NTF-SUBTRACT-1",
                                                .text = "tf.subtract takes float32 tensors, or one and a Python number, got {}",
                                                .suggestion = "annotate the operands as float32 tensors",
                                                .example = "tf.subtract(x1, i1)"};

extern constinit const OpDef subtract{
    .summary = "Elementwise x - y.",
    .spellings = Names{"tf.subtract", "tf.math.subtract"},
    .op = Operator::Subtract,
    .parameters = Parameters{operand("x"), operand("y"), name_parameter},
    .type_rule = [](const Call& call) { return binary_float32(call, operand_types); },
    .tfe = Tfe{"Sub"},
    .native = pointwise(apply<ir::Intrinsic::Subtract>),
    .numpy = "x0 - x1",
    .examples = Names{"tf.subtract(x2, y2)", "tf.subtract(x=x3, y=b1)", "tf.subtract(b1, x2, name='r')", "tf.subtract(x2, 2)",
                      "tf.subtract(1, x2)"},
    .more_examples = Names{"x2 - y2", "x1 - y4", "x2 - s", "2 - x1", "x0 - n"},
    .diagnostics = {&operand_types},
    .seed_rules = {SeedRule{"rextio-tensorflow/sub-call-f32-cpu", "RXTP-TENSORFLOW-014"},
                   SeedRule{"rextio-tensorflow/sub-binop-f32-cpu", "RXTP-TENSORFLOW-015"}},
};

}  // namespace natif::ops
