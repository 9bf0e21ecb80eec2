// src/ops/divide.cpp
#include "ops/families.h"

namespace natif::ops {

static constexpr base::Diagnostic operand_types{.code = "NTF-DIVIDE-1",
                                                .text = "tf.divide takes float32 tensors, or one and a Python number, got {}",
                                                .suggestion = "annotate the operands as float32 tensors",
                                                .example = "tf.divide(x1, i1)"};

// tf.truediv converts its first operand alone, and so does tf.divide when it is given a name; eager then raises.
static constexpr base::Diagnostic number_first{
    .code = "NTF-DIVIDE-2",
    .text = "tf.truediv, and tf.divide with a name, convert the first operand alone, so {} gives a tensor that is no float32",
    .suggestion = "write the operator, or a float",
    .example = "tf.truediv(1, x2)"};

extern constinit const OpDef divide{
    .summary = "Elementwise x / y.",
    .spellings = Names{"tf.divide", "tf.math.divide", "tf.truediv", "tf.math.truediv"},
    .op = Operator::Divide,
    .parameters = Parameters{operand("x"), operand("y"), name_parameter},
    .type_rule =
        [](const Call& call) {
          if (is_number_converted_alone(call) && (call.spelling().ends_with("truediv") || !call.absent(2)))
            return reject(number_first, what(call, 0));
          return binary_float32(call, operand_types);
        },
    .tfe = Tfe{"RealDiv"},
    .native = pointwise(apply<ir::Intrinsic::Divide>),
    .numpy = "x0 / x1",
    .examples = Names{"tf.divide(x2, y2)", "tf.divide(x=x3, y=b1)", "tf.divide(b1, x2, name='r')", "tf.divide(x2, 2)", "tf.divide(1, x2)",
                      "tf.truediv(x2, 2)", "tf.truediv(1.5, x2)"},
    .more_examples = Names{"x2 / y2", "x1 / y4", "x2 / s", "2 / x1", "x0 / n"},
    .diagnostics = {&operand_types, &number_first},
    .seed_rules = {SeedRule{"rextio-tensorflow/div-call-f32-cpu", "RXTP-TENSORFLOW-016"},
                   SeedRule{"rextio-tensorflow/div-binop-f32-cpu", "RXTP-TENSORFLOW-017"}},
};

}  // namespace natif::ops
