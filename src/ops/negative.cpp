// src/ops/negative.cpp
#include "ops/families.h"

namespace natif::ops {

static constexpr base::Diagnostic operand_type{.code = "NTF-NEGATIVE-1",
                                               .text = "tf.negative takes a float32 tensor, got {}",
                                               .suggestion = "annotate the operand as a float32 tensor",
                                               .example = "tf.negative(i1)"};

extern constinit const OpDef negative{
    .summary = "Elementwise -x.",
    .spellings = Names{"tf.negative", "tf.math.negative"},
    .op = Operator::Negate,
    .parameters = Parameters{operand("x"), name_parameter},
    .type_rule = [](const Call& call) { return unary_float32(call, operand_type); },
    .tfe = Tfe{"Neg"},
    .native = pointwise(apply<ir::Intrinsic::Negate>),
    .numpy = "-x0",
    .examples = Names{"tf.negative(x2)", "tf.negative(x=x1)", "tf.negative(x0, name='r')", "tf.negative(x4)", "tf.negative(s)", "-x3"},
    .diagnostics = {&operand_type},
    .seed_rules = {SeedRule{"rextio-tensorflow/negative-f32-cpu", "RXTP-TENSORFLOW-027"}},
};

}  // namespace natif::ops
