// src/ops/multiply.cpp
#include "ops/families.h"

namespace natif::ops {

static constexpr base::Diagnostic operand_types{.code = "NTF-MULTIPLY-1",
                                                .text = "tf.multiply takes float32 tensors, or one and a Python number, got {}",
                                                .suggestion = "annotate the operands as float32 tensors",
                                                .example = "tf.multiply(x1, i1)"};

extern constinit const OpDef multiply{
    .summary = "Elementwise x * y.",
    .spellings = Names{"tf.multiply", "tf.math.multiply"},
    .op = Operator::Multiply,
    .parameters = Parameters{operand("x"), operand("y"), name_parameter},
    .type_rule = [](const Call& call) { return binary_float32(call, operand_types); },
    .tfe = Tfe{"Mul"},
    .native = pointwise(apply<ir::Intrinsic::Multiply>),
    .numpy = "x0 * x1",
    .examples = Names{"tf.multiply(x2, y2)", "tf.multiply(x=x3, y=b1)", "tf.multiply(b1, x2, name='r')", "tf.multiply(x2, 2)",
                      "tf.multiply(True, x2)"},
    .more_examples = Names{"x2 * y2", "x1 * y4", "x2 * s", "2 * x1", "x0 * n"},
    .diagnostics = {&operand_types},
    .seed_rules = {SeedRule{"rextio-tensorflow/mul-call-f32-cpu", "RXTP-TENSORFLOW-013"},
                   SeedRule{"rextio-tensorflow/mul-binop-f32-cpu", "RXTP-TENSORFLOW-012"}},
};

}  // namespace natif::ops
