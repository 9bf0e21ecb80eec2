// src/ops/batch_matmul.cpp
#include "ops/families.h"

namespace natif::ops {

extern constinit const OpDef batch_matmul{
    .summary = "What tf.matmul and @ are where an operand has more than two axes.",
    .spellings = Names{},
    .parameters = Parameters{operand("x"), operand("y"), attribute("adj_x"), attribute("adj_y")},
    .type_rule =
        [](const Call& call) {
          const ir::Type *x = float32_tensor(call, 0), *y = float32_tensor(call, 1);
          const auto adj_x = flag(call, 2), adj_y = flag(call, 3);
          base::require(x && y && x->rank() >= 2 && y->rank() >= 2 && adj_x && adj_y,
                        "BatchMatMulV2 of other operands than tf.matmul gives it");
          return accept(matrix_product(*x, *y, *adj_x, *adj_y), {{"adj_x", *adj_x}, {"adj_y", *adj_y}});
        },
    .tfe = Tfe{"BatchMatMulV2", {"adj_x", "adj_y"}},
    .native = {.shape = LoopShape::Contraction,
               .applies = [](const ir::Attributes& attributes) { return !ir::get<bool>(attributes, "adj_x"); }},
    .exact = {.rule = "batch_matmul", .domain = "oneDNN on with AVX-512: a matrix as the right operand, up to 512 terms"},
    .numpy = "np.matmul(np.swapaxes(x0, -1, -2) if adj_x else x0, np.swapaxes(x1, -1, -2) if adj_y else x1)",
    .examples = Names{},
};

}  // namespace natif::ops
