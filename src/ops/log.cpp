// src/ops/log.cpp
#include "ops/families.h"

namespace natif::ops {

static constexpr base::Diagnostic operand_type{.code = "NTF-LOG-1",
                                               .text = "tf.math.log takes a float32 tensor, got {}",
                                               .suggestion = "annotate the operand as a float32 tensor",
                                               .example = "tf.math.log(i1)"};

extern constinit const OpDef log{
    .summary = "Elementwise natural logarithm.",
    .spellings = Names{"tf.math.log"},
    .parameters = Parameters{operand("x"), name_parameter},
    .type_rule = [](const Call& call) { return unary_float32(call, operand_type); },
    .tfe = Tfe{"Log"},
    .native = pointwise(apply<ir::Intrinsic::Log>),
    .exact = {.rule = "log",
              .domain = "eager on x86-64: the AVX packet formula in whole groups of 8 elements of the flat tensor, the scalar one in the "
                        "rest, which is the C library's logf"},
    .numpy = "np.log(x0)",
    .examples = Names{"tf.math.log(x2)", "tf.math.log(x=x1)", "tf.math.log(x0, name='r')", "tf.math.log(x4)", "tf.math.log(s)"},
    .diagnostics = {&operand_type},
    .seed_rules = {SeedRule{"rextio-tensorflow/log-f32-cpu", "RXTP-TENSORFLOW-030"}},
};

}  // namespace natif::ops
