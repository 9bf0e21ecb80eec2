// src/ops/relu.cpp
#include "ops/families.h"

namespace natif::ops {

static constexpr base::Diagnostic operand_type{.code = "NTF-RELU-1",
                                               .text = "tf.nn.relu takes a float32 tensor, got {}",
                                               .suggestion = "annotate the operand as a float32 tensor",
                                               .example = "tf.nn.relu(i1)"};

extern constinit const OpDef relu{
    .summary = "Elementwise max(x, 0).",
    .spellings = Names{"tf.nn.relu"},
    .parameters = Parameters{operand("features"), name_parameter},
    .type_rule = [](const Call& call) { return unary_float32(call, operand_type); },
    .tfe = Tfe{"Relu"},
    .native = pointwise(apply<ir::Intrinsic::Relu>),
    .numpy = "np.maximum(x0, 0)",
    .examples = Names{"tf.nn.relu(x2)", "tf.nn.relu(features=x1)", "tf.nn.relu(x0, name='r')", "tf.nn.relu(x4)", "tf.nn.relu(s)"},
    .diagnostics = {&operand_type},
    .seed_rules = {SeedRule{"rextio-tensorflow/relu-f32-cpu-1d", "RXTP-TENSORFLOW-018"},
                   SeedRule{"rextio-tensorflow/relu-f32-cpu-2d", "RXTP-TENSORFLOW-002"}},
};

}  // namespace natif::ops
