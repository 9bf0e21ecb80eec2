// src/ops/reduce_min.cpp
#include "ops/families.h"

namespace natif::ops {

extern constinit const OpDef reduce_min{
    .summary = "Smallest over axes; inf of nothing, NaN where there is one.",
    .spellings = Names{"tf.reduce_min", "tf.math.reduce_min"},
    .parameters = reduction_parameters,
    .type_rule = reduce_float32,
    .tfe = reduction_node("Min"),
    .native = reduction(Reduction::Min),
    .exact = {.rule = "reduce_min", .domain = "eager on x86-64: up to 8192 elements along the last axis, any number along the first axis"},
    .numpy = "np.min(x0, axis=tuple(axis), keepdims=keep_dims, initial=np.inf)",
    .examples = Names{"tf.reduce_min(x2)", "tf.reduce_min(x2, 1)", "tf.reduce_min(x2, axis=0, keepdims=True)",
                      "tf.reduce_min(input_tensor=x3, axis=[0, -1])", "tf.reduce_min(x4, (1, 2), True, 'r')", "tf.reduce_min(x1, -1)",
                      "tf.reduce_min(x0)", "tf.reduce_min(x2, axis=[])"},
    .diagnostics = reduction_diagnostics,
};

}  // namespace natif::ops
