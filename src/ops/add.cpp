// src/ops/add.cpp
#include "ops/families.h"

namespace natif::ops {

static constexpr base::Diagnostic operand_types{.code = "NTF-ADD-1",
                                                .text = "tf.add takes float32 tensors, or one and a Python number, got {}",
                                                .suggestion = "annotate the operands as float32 tensors",
                                                .example = "tf.add(x1, i1)"};

// Eager raises here, while the operator takes the int.
static constexpr base::Diagnostic number_first{
    .code = "NTF-ADD-2",
    .text = "tf.add converts its first operand before it sees the second, so {} gives a tensor that is no float32",
    .suggestion = "write the operator, or a float",
    .example = "tf.add(1, x2)"};

extern constinit const OpDef add{
    .summary = "Elementwise x + y.",
    .spellings = Names{"tf.add", "tf.math.add"},
    .op = Operator::Add,
    .parameters = Parameters{operand("x"), operand("y"), name_parameter},
    .type_rule =
        [](const Call& call) {
          if (is_number_converted_alone(call)) return reject(number_first, what(call, 0));
          return binary_float32(call, operand_types);
        },
    .tfe = Tfe{"AddV2"},
    .native = pointwise(apply<ir::Intrinsic::Add>),
    .numpy = "x0 + x1",
    .examples = Names{"tf.add(x2, y2)", "tf.add(x=x3, y=b1)", "tf.add(b1, x2, name='r')", "tf.add(x2, 2)", "tf.add(1.5, x2)"},
    .more_examples = Names{"x2 + y2", "x1 + y4", "x2 + s", "2 + x1", "x0 + n"},
    .diagnostics = {&operand_types, &number_first},
    .seed_rules = {SeedRule{"rextio-tensorflow/add-call-f32-cpu", "RXTP-TENSORFLOW-003"},
                   SeedRule{"rextio-tensorflow/add-binop-f32-cpu", "RXTP-TENSORFLOW-006"}},
};

}  // namespace natif::ops
