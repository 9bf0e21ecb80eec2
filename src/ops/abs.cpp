// src/ops/abs.cpp
#include "ops/families.h"

namespace natif::ops {

static constexpr base::Diagnostic operand_type{.code = "NTF-ABS-1",
                                               .text = "tf.abs takes a float32 tensor, got {}",
                                               .suggestion = "annotate the operand as a float32 tensor",
                                               .example = "tf.abs(i1)"};

extern constinit const OpDef abs{
    .summary = "Elementwise absolute value.",
    .spellings = Names{"tf.abs", "tf.math.abs"},
    .op = Operator::Absolute,
    .parameters = Parameters{operand("x"), name_parameter},
    .type_rule = [](const Call& call) { return unary_float32(call, operand_type); },
    .tfe = Tfe{"Abs"},
    .native = pointwise(apply<ir::Intrinsic::Absolute>),
    .numpy = "np.abs(x0)",
    .examples = Names{"tf.abs(x2)", "tf.abs(x=x1)", "tf.abs(x0, name='r')", "tf.abs(x4)", "tf.abs(s)", "abs(x3)"},
    .diagnostics = {&operand_type},
    .seed_rules = {SeedRule{"rextio-tensorflow/abs-f32-cpu", "RXTP-TENSORFLOW-026"}},
};

}  // namespace natif::ops
