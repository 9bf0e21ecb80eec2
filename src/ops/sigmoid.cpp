// src/ops/sigmoid.cpp
#include "ops/families.h"

namespace natif::ops {

static constexpr base::Diagnostic operand_type{.code = "NTF-SIGMOID-1",
                                               .text = "tf.sigmoid takes a float32 tensor, got {}",
                                               .suggestion = "annotate the operand as a float32 tensor",
                                               .example = "tf.sigmoid(i1)"};

extern constinit const OpDef sigmoid{
    .summary = "Elementwise 1 / (1 + exp(-x)).",
    .spellings = Names{"tf.sigmoid", "tf.math.sigmoid", "tf.nn.sigmoid"},
    .parameters = Parameters{operand("x"), name_parameter},
    .type_rule = [](const Call& call) { return unary_float32(call, operand_type); },
    .tfe = Tfe{"Sigmoid"},
    .native = pointwise(apply<ir::Intrinsic::Sigmoid>),
    .exact = {.rule = "sigmoid",
              .domain =
                  "eager on x86-64: the AVX packet formula in whole groups of 8 elements of the flat tensor, the scalar one in the rest"},
    .numpy = "1 / (1 + np.exp(-x0))",
    .examples = Names{"tf.sigmoid(x2)", "tf.sigmoid(x=x1)", "tf.sigmoid(x0, name='r')", "tf.sigmoid(x4)", "tf.sigmoid(s)"},
    .diagnostics = {&operand_type},
    .seed_rules = {SeedRule{"rextio-tensorflow/sigmoid-f32-cpu-1d", "RXTP-TENSORFLOW-019"},
                   SeedRule{"rextio-tensorflow/sigmoid-f32-cpu-2d", "RXTP-TENSORFLOW-005"}},
};

}  // namespace natif::ops
