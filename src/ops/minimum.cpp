// src/ops/minimum.cpp
#include "ops/families.h"

namespace natif::ops {

static constexpr base::Diagnostic operand_types{.code = "NTF-MINIMUM-1",
                                                .text = "tf.minimum takes float32 tensors, or one and a Python number, got {}",
                                                .suggestion = "annotate the operands as float32 tensors",
                                                .example = "tf.minimum(x1, i1)"};

extern constinit const OpDef minimum{
    .summary = "Elementwise smaller of x and y; NaN where either is NaN.",
    .spellings = Names{"tf.minimum", "tf.math.minimum"},
    .parameters = Parameters{operand("x"), operand("y"), name_parameter},
    .type_rule = [](const Call& call) { return binary_float32(call, operand_types); },
    .tfe = Tfe{"Minimum"},
    .native = pointwise(apply<ir::Intrinsic::Minimum>),
    .numpy = "np.minimum(x0, x1)",
    .examples = Names{"tf.minimum(x2, y2)", "tf.minimum(x=x3, y=b1)", "tf.minimum(b1, x2, name='r')", "tf.minimum(x2, 2)",
                      "tf.minimum(0, x2)", "tf.minimum(x1, s)"},
    .diagnostics = {&operand_types},
    .seed_rules = {SeedRule{"rextio-tensorflow/minimum-call-f32-cpu", "RXTP-TENSORFLOW-033"}},
};

}  // namespace natif::ops
