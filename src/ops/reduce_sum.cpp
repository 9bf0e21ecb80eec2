// src/ops/reduce_sum.cpp
#include "ops/families.h"

namespace natif::ops {

extern constinit const OpDef reduce_sum{
    .summary = "Sum over axes.",
    .spellings = Names{"tf.reduce_sum", "tf.math.reduce_sum"},
    .parameters = reduction_parameters,
    .type_rule = reduce_float32,
    .tfe = reduction_node("Sum"),
    .native = reduction(Reduction::Sum),
    .exact = {.rule = "sum", .domain = "eager on x86-64: up to 8192 elements along the last axis, any number along the first axis"},
    .numpy = "np.sum(x0, axis=tuple(axis), keepdims=keep_dims)",
    .examples = Names{"tf.reduce_sum(x2)", "tf.reduce_sum(x2, 1)", "tf.reduce_sum(x2, axis=0, keepdims=True)",
                      "tf.reduce_sum(input_tensor=x3, axis=[0, -1])", "tf.reduce_sum(x4, (1, 2), True, 'r')", "tf.reduce_sum(x1, -1)",
                      "tf.reduce_sum(x0)", "tf.reduce_sum(x2, axis=[])"},
    .diagnostics = reduction_diagnostics,
    .seed_rules = {SeedRule{"rextio-tensorflow/reduce-sum-axis1-f32-cpu-2d", "RXTP-TENSORFLOW-011"},
                   SeedRule{"rextio-tensorflow/reduce-sum-literal-axis-f32-cpu-2d", "RXTP-TENSORFLOW-023"}},
};

}  // namespace natif::ops
