// src/ops/reduce_max.cpp
#include "ops/families.h"

namespace natif::ops {

extern constinit const OpDef reduce_max{
    .summary = "Largest over axes; -inf of nothing, NaN where there is one.",
    .spellings = Names{"tf.reduce_max", "tf.math.reduce_max"},
    .parameters = reduction_parameters,
    .type_rule = reduce_float32,
    .tfe = reduction_node("Max"),
    .native = reduction(Reduction::Max),
    .exact = {.rule = "reduce_max", .domain = "eager on x86-64: up to 8192 elements along the last axis, any number along the first axis"},
    .numpy = "np.max(x0, axis=tuple(axis), keepdims=keep_dims, initial=-np.inf)",
    .examples = Names{"tf.reduce_max(x2)", "tf.reduce_max(x2, 1)", "tf.reduce_max(x2, axis=0, keepdims=True)",
                      "tf.reduce_max(input_tensor=x3, axis=[0, -1])", "tf.reduce_max(x4, (1, 2), True, 'r')", "tf.reduce_max(x1, -1)",
                      "tf.reduce_max(x0)", "tf.reduce_max(x2, axis=[])"},
    .diagnostics = reduction_diagnostics,
};

}  // namespace natif::ops
