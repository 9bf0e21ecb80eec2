// src/ops/reduce_mean.cpp
#include "ops/families.h"

namespace natif::ops {

extern constinit const OpDef reduce_mean{
    .summary = "Mean over axes.",
    .spellings = Names{"tf.reduce_mean", "tf.math.reduce_mean"},
    .parameters = reduction_parameters,
    .type_rule = reduce_float32,
    .tfe = reduction_node("Mean"),
    .native = reduction(Reduction::Mean),
    .exact = {.rule = "sum", .domain = "eager on x86-64: up to 8192 elements along the last axis, any number along the first axis"},
    .numpy = "np.mean(x0, axis=tuple(axis), keepdims=keep_dims)",
    .examples = Names{"tf.reduce_mean(x2)", "tf.reduce_mean(x2, 1)", "tf.reduce_mean(x2, axis=0, keepdims=True)",
                      "tf.reduce_mean(input_tensor=x3, axis=[0, -1])", "tf.reduce_mean(x4, (1, 2), True, 'r')", "tf.reduce_mean(x1, -1)",
                      "tf.reduce_mean(x0)", "tf.reduce_mean(x2, axis=[])"},
    .diagnostics = reduction_diagnostics,
    .seed_rules = {SeedRule{"rextio-tensorflow/reduce-mean-axis1-f32-cpu-2d", "RXTP-TENSORFLOW-004"},
                   SeedRule{"rextio-tensorflow/reduce-mean-literal-axis-f32-cpu-2d", "RXTP-TENSORFLOW-022"}},
};

}  // namespace natif::ops
