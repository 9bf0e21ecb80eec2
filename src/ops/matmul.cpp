// src/ops/matmul.cpp

#include "ops/families.h"

namespace natif::ops {

static constexpr base::Diagnostic operand_types{.code = "NTF-MATMUL-1",
                                                .text = "a matrix product takes two float32 tensors, got {}",
                                                .suggestion = "annotate both operands as float32 tensors",
                                                .example = "tf.matmul(i1, x2)"};
static constexpr base::Diagnostic operand_ranks{.code = "NTF-MATMUL-2",
                                                .text = "a matrix product takes tensors of rank 2 or more, got {}",
                                                .suggestion = "give a vector a second axis",
                                                .example = "tf.matmul(x1, w2)"};
static constexpr base::Diagnostic literal_flags{.code = "NTF-MATMUL-3",
                                                .text = "the flags of tf.matmul have to be known when compiling",
                                                .suggestion = "write True or False",
                                                .example = "tf.matmul(x2, y2, transpose_b=flag)"};
static constexpr base::Diagnostic both_flags{.code = "NTF-MATMUL-4",
                                             .text = "tf.matmul takes transpose or adjoint of one operand, not both",
                                             .suggestion = "write one of the two",
                                             .example = "tf.matmul(x2, y2, transpose_b=True, adjoint_b=True)"};
static constexpr base::Diagnostic hints{.code = "NTF-MATMUL-5",
                                        .text = "tf.matmul with {} runs another TensorFlow op",
                                        .suggestion = "leave it out",
                                        .example = "tf.matmul(x2, w2, a_is_sparse=True)"};
static constexpr base::Diagnostic output_type{.code = "NTF-MATMUL-6",
                                              .text = "a matrix product of float32 tensors is float32",
                                              .suggestion = "leave output_type out",
                                              .example = "tf.matmul(x2, w2, output_type=tf.int32)"};

static constexpr Parameters parameters{operand("a"),
                                       operand("b"),
                                       attribute("transpose_a"),
                                       attribute("transpose_b"),
                                       attribute("adjoint_a"),
                                       attribute("adjoint_b"),
                                       attribute("a_is_sparse"),
                                       attribute("b_is_sparse"),
                                       attribute("output_type"),
                                       attribute("grad_a"),
                                       attribute("grad_b"),
                                       name_parameter};

static Verdict type_rule(const Call& call) {
  const ir::Type *a = float32_tensor(call, 0), *b = float32_tensor(call, 1);
  if (!a || !b) return reject(operand_types, what(call, 0) + " and " + what(call, 1));
  if (a->rank() < 2 || b->rank() < 2) return reject(operand_ranks, what(call, 0) + " and " + what(call, 1));
  bool flags[4] = {};
  for (size_t i = 0; i < 4; ++i) {
    const auto given = flag(call, 2 + i);
    if (!given) return reject(literal_flags);
    flags[i] = *given;
  }
  if ((flags[0] && flags[2]) || (flags[1] && flags[3])) return reject(both_flags);
  for (size_t hint : {6, 7, 9, 10})
    if (flag(call, hint) != false) return reject(hints, std::string(parameters[hint].name));
  const auto* type = call.literal<ir::DType>(8);
  if (!call.absent(8) && (!type || *type != ir::DType::Float32)) return reject(output_type);
  const bool transpose_a = flags[0] || flags[2], transpose_b = flags[1] || flags[3];
  return accept(matrix_product(*a, *b, transpose_a, transpose_b), {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
}

/// As tf.matmul does: an operand of rank above 2 makes it a batch of products, whose op calls the flags by other names.
static ir::Value build(NodeBuilder& builder, const Call&, const Verdict& verdict, std::span<const ir::Value> operands) {
  if (verdict.results[0].rank() == 2) return builder.op("MatMul", operands, verdict.results[0], verdict.attributes);
  const ir::Attributes& flags = verdict.attributes;
  return builder.op("BatchMatMulV2", operands, verdict.results[0],
                    {{"adj_x", ir::get<bool>(flags, "transpose_a")}, {"adj_y", ir::get<bool>(flags, "transpose_b")}});
}

extern constinit const OpDef matmul{
    .summary = "Matrix product of the last two axes; the axes before them broadcast.",
    .spellings = Names{"tf.matmul", "tf.linalg.matmul"},
    .op = Operator::MatMul,
    .parameters = parameters,
    .type_rule = type_rule,
    .build = build,
    .tfe = Tfe{"MatMul", {"transpose_a", "transpose_b"}},
    .native = kernel(LoopShape::Contraction),
    .exact = {.rule = "matmul",
              .domain = "oneDNN on or off, AVX-512 or AVX2, by sizes: see numerics.md",
              .variants = {"matmul@avx2", "matmul@eigen-vector", "matmul@eigen", "matmul@eigen-avx2"}},
    .numpy = "np.matmul(np.swapaxes(x0, -1, -2) if transpose_a else x0, np.swapaxes(x1, -1, -2) if transpose_b else x1)",
    .examples = Names{"tf.matmul(x2, w2)", "tf.linalg.matmul(a=x2, b=w2, name='m')", "tf.matmul(x2, y2, transpose_b=True)",
                      "tf.matmul(x2, y2, True, False)", "tf.matmul(x2, y2, adjoint_a=True)", "x2 @ w2", "x3 @ w2",
                      "tf.matmul(x3, y3, transpose_b=True)"},
    .more_examples = Names{"tf.matmul(x4, y3, adjoint_b=True)", "tf.matmul(x2, w2, output_type=tf.float32, a_is_sparse=False)"},
    .diagnostics = {&operand_types, &operand_ranks, &literal_flags, &both_flags, &hints, &output_type},
    .seed_rules = {SeedRule{"rextio-tensorflow/matmul-f32-cpu-2d", "RXTP-TENSORFLOW-001"}},
};

}  // namespace natif::ops
