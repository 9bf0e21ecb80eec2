// src/ops/tanh.cpp
#include "ops/families.h"

namespace natif::ops {

static constexpr base::Diagnostic operand_type{.code = "NTF-TANH-1",
                                               .text = "tf.tanh takes a float32 tensor, got {}",
                                               .suggestion = "annotate the operand as a float32 tensor",
                                               .example = "tf.tanh(i1)"};

extern constinit const OpDef tanh{
    .summary = "Elementwise hyperbolic tangent.",
    .spellings = Names{"tf.tanh", "tf.math.tanh", "tf.nn.tanh"},
    .parameters = Parameters{operand("x"), name_parameter},
    .type_rule = [](const Call& call) { return unary_float32(call, operand_type); },
    .tfe = Tfe{"Tanh"},
    .native = pointwise(apply<ir::Intrinsic::Tanh>),
    .exact = {.rule = "tanh", .domain = "eager on x86-64: one formula for whole groups of 8 elements and for the rest"},
    .numpy = "np.tanh(x0)",
    .examples = Names{"tf.tanh(x2)", "tf.tanh(x=x1)", "tf.tanh(x0, name='r')", "tf.tanh(x4)", "tf.tanh(s)"},
    .diagnostics = {&operand_type},
    .seed_rules = {SeedRule{"rextio-tensorflow/tanh-f32-cpu-1d", "RXTP-TENSORFLOW-020"},
                   SeedRule{"rextio-tensorflow/tanh-f32-cpu-2d", "RXTP-TENSORFLOW-009"}},
};

}  // namespace natif::ops
