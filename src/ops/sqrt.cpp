// src/ops/sqrt.cpp
#include "ops/families.h"

namespace natif::ops {

static constexpr base::Diagnostic operand_type{.code = "NTF-SQRT-1",
                                               .text = "tf.sqrt takes a float32 tensor, got {}",
                                               .suggestion = "annotate the operand as a float32 tensor",
                                               .example = "tf.sqrt(i1)"};

extern constinit const OpDef sqrt{
    .summary = "Elementwise square root.",
    .spellings = Names{"tf.sqrt", "tf.math.sqrt"},
    .parameters = Parameters{operand("x"), name_parameter},
    .type_rule = [](const Call& call) { return unary_float32(call, operand_type); },
    .tfe = Tfe{"Sqrt"},
    .native = pointwise(apply<ir::Intrinsic::Sqrt>),
    .numpy = "np.sqrt(x0)",
    .examples = Names{"tf.sqrt(x2)", "tf.sqrt(x=x1)", "tf.sqrt(x0, name='r')", "tf.sqrt(x4)", "tf.sqrt(s)"},
    .diagnostics = {&operand_type},
    .seed_rules = {SeedRule{"rextio-tensorflow/sqrt-f32-cpu", "RXTP-TENSORFLOW-031"}},
};

}  // namespace natif::ops
