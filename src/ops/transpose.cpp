// src/ops/transpose.cpp
#include <algorithm>

#include "ops/families.h"

namespace natif::ops {

static constexpr base::Diagnostic operand_type{.code = "NTF-TRANSPOSE-1",
                                               .text = "tf.transpose takes a float32 tensor, got {}",
                                               .suggestion = "annotate the operand as a float32 tensor",
                                               .example = "tf.transpose(i1)"};
static constexpr base::Diagnostic literal_perm{.code = "NTF-TRANSPOSE-2",
                                               .text = "perm has to be known when compiling",
                                               .suggestion = "write a list of ints, or None",
                                               .example = "tf.transpose(x2, perm=n)"};
static constexpr base::Diagnostic permutation{.code = "NTF-TRANSPOSE-3",
                                              .text = "perm is no order of the axes of {}",
                                              .suggestion = "name every axis once",
                                              .example = "tf.transpose(x2, perm=[0, 0])"};
static constexpr base::Diagnostic literal_conjugate{.code = "NTF-TRANSPOSE-4",
                                                    .text = "conjugate has to be known when compiling",
                                                    .suggestion = "leave it out: it changes nothing for float32",
                                                    .example = "tf.transpose(x2, conjugate=flag)"};

static Verdict type_rule(const Call& call) {
  const ir::Type* x = float32_tensor(call, 0);
  if (!x) return reject(operand_type, what(call, 0));
  if (!flag(call, 2)) return reject(literal_conjugate);
  std::vector<int64_t> perm;
  if (call.absent(1)) {
    for (int64_t axis = x->rank(); axis-- > 0;) perm.push_back(axis);
  } else if (const auto* written = call.literal<std::vector<int64_t>>(1)) {
    for (int64_t axis : *written) {
      const auto normal = normal_axis(axis, x->rank());
      if (!normal || std::ranges::find(perm, *normal) != perm.end()) return reject(permutation, ir::describe(*x));
      perm.push_back(*normal);
    }
    if (static_cast<int>(perm.size()) != x->rank()) return reject(permutation, ir::describe(*x));
  } else {
    return reject(literal_perm);
  }
  ir::Type result = transposed(*x, perm);
  return accept(std::move(result), {{"perm", std::move(perm)}});
}

extern constinit const OpDef transpose{
    .summary = "The axes in another order, reversed by default.",
    .spellings = Names{"tf.transpose"},
    .parameters = Parameters{operand("a"), attribute("perm"), attribute("conjugate"), name_parameter},
    .type_rule = type_rule,
    .tfe = Tfe{"Transpose", {}, {"perm"}},
    .native = kernel(LoopShape::Transpose),
    .numpy = "np.transpose(x0, perm)",
    .examples = Names{"tf.transpose(x2)", "tf.transpose(a=x3, name='t')", "tf.transpose(x3, [0, 2, 1])",
                      "tf.transpose(x4, perm=(0, -1, 2, 1))", "tf.transpose(x1, None, conjugate=True)", "tf.transpose(x0)"},
    .diagnostics = {&operand_type, &literal_perm, &permutation, &literal_conjugate},
    .seed_rules = {SeedRule{"rextio-tensorflow/transpose-f32-cpu-2d", "RXTP-TENSORFLOW-039"}},
};

}  // namespace natif::ops
