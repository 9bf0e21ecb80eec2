// src/ops/exp.cpp
#include "ops/families.h"

namespace natif::ops {

static constexpr base::Diagnostic operand_type{.code = "NTF-EXP-1",
                                               .text = "tf.exp takes a float32 tensor, got {}",
                                               .suggestion = "annotate the operand as a float32 tensor",
                                               .example = "tf.exp(i1)"};

extern constinit const OpDef exp{
    .summary = "Elementwise e to the power of x.",
    .spellings = Names{"tf.exp", "tf.math.exp"},
    .parameters = Parameters{operand("x"), name_parameter},
    .type_rule = [](const Call& call) { return unary_float32(call, operand_type); },
    .tfe = Tfe{"Exp"},
    .native = pointwise(apply<ir::Intrinsic::Exp>),
    .exact = {.rule = "exp",
              .domain = "eager on x86-64: the AVX packet formula in whole groups of 8 elements of the flat tensor, the scalar one in the "
                        "rest, which is the C library's expf"},
    .numpy = "np.exp(x0)",
    .examples = Names{"tf.exp(x2)", "tf.exp(x=x1)", "tf.exp(x0, name='r')", "tf.exp(x4)", "tf.exp(s)"},
    .diagnostics = {&operand_type},
    .seed_rules = {SeedRule{"rextio-tensorflow/exp-f32-cpu", "RXTP-TENSORFLOW-029"}},
};

}  // namespace natif::ops
