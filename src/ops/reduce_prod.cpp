// src/ops/reduce_prod.cpp
#include "ops/families.h"

namespace natif::ops {

extern constinit const OpDef reduce_prod{
    .summary = "Product over axes.",
    .spellings = Names{"tf.reduce_prod", "tf.math.reduce_prod"},
    .parameters = reduction_parameters,
    .type_rule = reduce_float32,
    .tfe = reduction_node("Prod"),
    .native = reduction(Reduction::Prod),
    .exact = {.rule = "reduce_prod", .domain = "eager on x86-64: up to 8192 elements along the last axis, any number along the first axis"},
    .numpy = "np.prod(x0, axis=tuple(axis), keepdims=keep_dims)",
    .examples = Names{"tf.reduce_prod(x2)", "tf.reduce_prod(x2, 1)", "tf.reduce_prod(x2, axis=0, keepdims=True)",
                      "tf.reduce_prod(input_tensor=x3, axis=[0, -1])", "tf.reduce_prod(x4, (1, 2), True, 'r')", "tf.reduce_prod(x1, -1)",
                      "tf.reduce_prod(x0)", "tf.reduce_prod(x2, axis=[])"},
    .diagnostics = reduction_diagnostics,
};

}  // namespace natif::ops
