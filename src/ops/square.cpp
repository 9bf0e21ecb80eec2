// src/ops/square.cpp
#include "ops/families.h"

namespace natif::ops {

static constexpr base::Diagnostic operand_type{.code = "NTF-SQUARE-1",
                                               .text = "tf.square takes a float32 tensor, got {}",
                                               .suggestion = "annotate the operand as a float32 tensor",
                                               .example = "tf.square(i1)"};

extern constinit const OpDef square{
    .summary = "Elementwise x * x.",
    .spellings = Names{"tf.square", "tf.math.square"},
    .parameters = Parameters{operand("x"), name_parameter},
    .type_rule = [](const Call& call) { return unary_float32(call, operand_type); },
    .tfe = Tfe{"Square"},
    .native = pointwise(apply<ir::Intrinsic::Square>),
    .numpy = "x0 * x0",
    .examples = Names{"tf.square(x2)", "tf.square(x=x1)", "tf.square(x0, name='r')", "tf.square(x4)", "tf.square(s)"},
    .diagnostics = {&operand_type},
    .seed_rules = {SeedRule{"rextio-tensorflow/square-f32-cpu", "RXTP-TENSORFLOW-028"}},
};

}  // namespace natif::ops
