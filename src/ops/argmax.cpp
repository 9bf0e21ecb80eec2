// src/ops/argmax.cpp
#include "ops/families.h"

namespace natif::ops {

static constexpr base::Diagnostic operand_type{.code = "NTF-ARGMAX-1",
                                               .text = "tf.argmax takes a float32 tensor, got {}",
                                               .suggestion = "annotate the operand as a float32 tensor",
                                               .example = "tf.argmax(i1)"};
static constexpr base::Diagnostic literal_axis{.code = "NTF-ARGMAX-2",
                                               .text = "the axis of tf.argmax has to be one axis that is known when compiling",
                                               .suggestion = "write an int or None",
                                               .example = "tf.argmax(x2, axis=n)"};
static constexpr base::Diagnostic axis_range{.code = "NTF-ARGMAX-3",
                                             .text = "tf.argmax along axis {}",
                                             .suggestion = "name an axis that the tensor has",
                                             .example = "tf.argmax(x2, axis=2)"};
static constexpr base::Diagnostic index_type{.code = "NTF-ARGMAX-4",
                                             .text = "output_type has to be tf.int64 or tf.int32",
                                             .suggestion = "leave output_type out, or write one of them",
                                             .example = "tf.argmax(x2, axis=1, output_type=tf.float32)"};

static Verdict type_rule(const Call& call) {
  const ir::Type* x = float32_tensor(call, 0);
  if (!x) return reject(operand_type, what(call, 0));
  const int64_t first = 0;
  const int64_t* axis = call.absent(1) ? &first : call.literal<int64_t>(1);
  if (!axis) return reject(literal_axis);
  const auto normal = normal_axis(*axis, x->rank());
  if (!normal) return reject(axis_range, std::to_string(*axis) + " of " + ir::describe(*x));
  const ir::DType int64 = ir::DType::Int64;
  const ir::DType* output_type = call.absent(2) ? &int64 : call.literal<ir::DType>(2);
  if (!output_type || (*output_type != ir::DType::Int64 && *output_type != ir::DType::Int32)) return reject(index_type);
  std::vector<int64_t> dims = x->dims;
  dims.erase(dims.begin() + *normal);
  return accept(ir::Type::tensor(*output_type, std::move(dims)), {{"axis", *normal}, {"output_type", *output_type}});
}

extern constinit const OpDef argmax{
    .summary = "Index of the largest element along an axis, the first one by default; the first of equals, and never a NaN.",
    .spellings = Names{"tf.argmax", "tf.math.argmax"},
    .parameters = Parameters{operand("input"), attribute("axis"), attribute("output_type"), name_parameter},
    .type_rule = type_rule,
    .tfe = Tfe{"ArgMax", {"output_type"}, {"axis"}},
    .native = kernel(LoopShape::ArgReduction),
    .numpy = "np.where(np.isnan(x0), -np.inf, np.maximum(x0, np.finfo(np.float32).min)).argmax(axis)",
    .examples = Names{"tf.argmax(x2)", "tf.argmax(x2, 1)", "tf.argmax(input=x2, axis=-1, name='a')", "tf.argmax(x3, axis=1)",
                      "tf.argmax(x1)", "tf.argmax(x2, 1, tf.int32)", "tf.math.argmax(x2, axis=None, output_type=tf.int64)"},
    .diagnostics = {&operand_type, &literal_axis, &axis_range, &index_type},
    .seed_rules = {SeedRule{"rextio-tensorflow/argmax-axis0-i64-cpu-2d", "RXTP-TENSORFLOW-024"},
                   SeedRule{"rextio-tensorflow/argmax-axis1-i64-cpu-2d", "RXTP-TENSORFLOW-008"}},
};

}  // namespace natif::ops
