// src/ops/softmax.cpp
#include "ops/families.h"

namespace natif::ops {

static constexpr base::Diagnostic operand_type{.code = "NTF-SOFTMAX-1",
                                               .text = "tf.nn.softmax takes a float32 tensor, got {}",
                                               .suggestion = "annotate the operand as a float32 tensor",
                                               .example = "tf.nn.softmax(i1)"};
static constexpr base::Diagnostic rank{.code = "NTF-SOFTMAX-2",
                                       .text = "tf.nn.softmax takes ranks 1 to 5, got {}",
                                       .suggestion = "give the operand an axis, or join some of its axes",
                                       .example = "tf.nn.softmax(x0)"};
static constexpr base::Diagnostic literal_axis{.code = "NTF-SOFTMAX-3",
                                               .text = "the axis of a softmax has to be known when compiling",
                                               .suggestion = "write an int or None",
                                               .example = "tf.nn.softmax(x2, axis=n)"};
static constexpr base::Diagnostic axis_range{.code = "NTF-SOFTMAX-4",
                                             .text = "a softmax along axis {}",
                                             .suggestion = "name an axis that the tensor has",
                                             .example = "tf.nn.softmax(x2, axis=2)"};

static Verdict type_rule(const Call& call) {
  const ir::Type* x = float32_tensor(call, 0);
  if (!x) return reject(operand_type, what(call, 0));
  if (x->rank() < 1 || x->rank() > 5) return reject(rank, what(call, 0));  // eager's limit, with oneDNN
  const int64_t last = -1;
  const int64_t* axis = call.absent(1) ? &last : call.literal<int64_t>(1);
  if (!axis) return reject(literal_axis);
  const auto normal = normal_axis(*axis, x->rank());
  if (!normal) return reject(axis_range, std::to_string(*axis) + " of " + ir::describe(*x));
  return accept(*x, {{"axis", *normal}});
}

/// As tf.nn.softmax does: an axis that is not the last changes places with it, before and after.
static ir::Value build(NodeBuilder& builder, const Call&, const Verdict& verdict, std::span<const ir::Value> operands) {
  const ir::Type& type = verdict.results[0];
  const int64_t axis = ir::get<int64_t>(verdict.attributes, "axis"), last = type.rank() - 1;
  if (axis == last) return builder.op("Softmax", operands, type);
  std::vector<int64_t> swap;
  for (int64_t i = 0; i <= last; ++i) swap.push_back(i == axis ? last : i == last ? axis : i);
  const ir::Type swapped = transposed(type, swap);
  const ir::Value turned[] = {builder.op("Transpose", operands, swapped, {{"perm", swap}})};
  const ir::Value soft[] = {builder.op("Softmax", turned, swapped)};
  return builder.op("Transpose", soft, type, {{"perm", swap}});
}

extern constinit const OpDef softmax{
    .summary = "exp(x) / sum(exp(x)) along an axis, the last one by default.",
    .spellings = Names{"tf.nn.softmax", "tf.math.softmax"},
    .parameters = Parameters{operand("logits"), attribute("axis"), name_parameter},
    .type_rule = type_rule,
    .build = build,
    .tfe = Tfe{"Softmax"},
    .native = kernel(LoopShape::Softmax),
    .exact = {.rule = "softmax",
              .domain = "oneDNN on with AVX-512, or off; rows whose largest element is finite and that hold no NaN",
              .variants = {"softmax@eigen"}},
    .numpy =
        "np.exp(x0 - x0.max(-1, keepdims=True, initial=-np.inf)) / "
        "np.exp(x0 - x0.max(-1, keepdims=True, initial=-np.inf)).sum(-1, keepdims=True)",
    .examples = Names{"tf.nn.softmax(x2)", "tf.nn.softmax(x1, axis=0)", "tf.nn.softmax(logits=x2, axis=1, name='p')",
                      "tf.nn.softmax(x2, 0)", "tf.nn.softmax(x3, -2)", "tf.nn.softmax(x4, axis=None)", "tf.nn.softmax(x5, 1)"},
    .diagnostics = {&operand_type, &rank, &literal_axis, &axis_range},
    .seed_rules = {SeedRule{"rextio-tensorflow/softmax-axis0-f32-cpu-1d", "RXTP-TENSORFLOW-025"},
                   SeedRule{"rextio-tensorflow/softmax-axis1-f32-cpu-2d", "RXTP-TENSORFLOW-007"}},
};

}  // namespace natif::ops
