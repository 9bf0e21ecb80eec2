// src/codegen/kernel.cpp: the part of a kernel around its stages: its context, the checks of run-time sizes, and the launch.
#include "codegen/kernel.h"

#include "base/error.h"
#include "codegen/stage.h"
#include "codegen/values.h"
#include "passes/cost_model.h"

namespace natif::codegen {

namespace {

using passes::Kernel;
using passes::Size;
using passes::Stage;
using passes::StageKind;

class KernelWriter {
 public:
  KernelWriter(Writer& w, const ir::Function& function, const Kernel& kernel, const Code& name)
      : w_(w), function_(function), kernel_(kernel), name_(name), layout_(kernel) {}

  void print() {
    for (const Stage& stage : kernel_.stages) {
      std::vector<Code> ops;
      for (const std::string& op : stage.ops) ops.push_back(in_comment(op));
      w_.line("// $$", stage.invariant ? Code("once: ") : Code(""), list(ops));
    }
    print_context();
    w_.blank();
    if (has_row_stages()) {
      print_rows(w_, kernel_, layout_, name_);
      w_.blank();
    }
    print_launch();
  }

 private:
  bool has_row_stages() const { return layout_.has_row_stages; }

  void print_context() {
    w_.line("struct $_context {", name_);
    if (!kernel_.inputs.empty()) w_.line("const float* in[$];", kernel_.inputs.size());
    if (!kernel_.numbers.empty()) w_.line("float numbers[$];", kernel_.numbers.size());
    for (size_t i = 0; i < kernel_.outputs.size(); ++i) w_.line("$* out$;", element_type(i), i);
    for (size_t s = 0; s < kernel_.stages.size(); ++s)
      if (kernel_.stages[s].invariant && !kernel_.stages[s].output) w_.line("float* once$;", s);
    for (size_t i = 0; i < kernel_.sizes.size(); ++i)
      if (is_free(static_cast<Size>(i))) w_.line("int64_t s$;", i);
    for_each_strided([&](size_t s, size_t k, const passes::Operand&) { w_.line("Strided strided$_$;", s, k); });
    w_.line("int64_t rows, block;");
    w_.line("bool declined;");
    w_.close(";");
  }

  bool is_free(Size size) const { return kernel_.sizes[size].fixed == ir::free_size; }

  Code element_type(size_t output) const {
    switch (function_.type(kernel_.outputs[output]).dtype) {
      case ir::DType::Float32: return "float";
      case ir::DType::Int64: return "int64_t";
      case ir::DType::Int32: return "int32_t";
      default: throw base::InternalError("a kernel's result of a dtype that no kernel writes");
    }
  }

  template <class F>
  void for_each_strided(const F& visit) const {
    for (size_t s = 0; s < kernel_.stages.size(); ++s)
      for (size_t k = 0; k < kernel_.stages[s].operands.size(); ++k)
        if (kernel_.stages[s].operands[k].access == passes::Access::Strided) visit(s, k, kernel_.stages[s].operands[k]);
  }

  // ---- launch ----

  void print_launch() {
    std::vector<Code> parameters = {"const Session& session"};
    for (size_t i = 0; i < kernel_.inputs.size(); ++i) parameters.push_back(code("const natif_tensor& in$", i));
    for (size_t i = 0; i < kernel_.numbers.size(); ++i) parameters.push_back(code("$ number$", number_type(function_.type(kernel_.numbers[i])), i));
    for (size_t i = 0; i < kernel_.outputs.size(); ++i) parameters.push_back(code("Tensor& out$", i));
    w_.line("natif_status $($) {", name_, list(parameters));
    print_sizes();
    print_checks();
    w_.line("$_context k;", name_);
    for (size_t i = 0; i < kernel_.inputs.size(); ++i) w_.line("k.in[$] = floats_of(in$);", i, i);
    for (size_t i = 0; i < kernel_.numbers.size(); ++i) w_.line("if (!to_element(number$, k.numbers[$])) return NATIF_DECLINED;", i, i);
    for (size_t i = 0; i < kernel_.sizes.size(); ++i)
      if (is_free(static_cast<Size>(i))) w_.line("k.s$ = s$;", i, i);
    w_.line("k.declined = false;");
    print_strided();
    print_allocations();
    print_invariant();
    if (has_row_stages()) print_run();
    w_.line(has_row_stages() ? "return k.declined ? NATIF_DECLINED : NATIF_OK;" : "return NATIF_OK;");
    w_.close();
  }

  // Each free size from the axes that have it.
  void print_sizes() {
    for (size_t i = 0; i < kernel_.sizes.size(); ++i) {
      if (!is_free(static_cast<Size>(i))) {
        w_.line("[[maybe_unused]] constexpr int64_t s$ = $;", i, number(kernel_.sizes[i].fixed));
        continue;
      }
      std::vector<Code> axes;
      for (const passes::Check& check : kernel_.checks) {
        if (check.size != i) continue;
        const Code axis = code("in$.dims[$]", check.input, check.axis);
        if (!check.or_one) {
          axes = {axis};
          break;
        }
        axes.push_back(axis);
      }
      base::require(!axes.empty(), "a size of a kernel that no input has");
      w_.line(axes.size() == 1 ? "const int64_t s$ = $;" : "const int64_t s$ = broadcast_size($);", i, list(axes));
    }
    w_.line("const int64_t rows = $;", layout_.total_rows());
  }

  void print_checks() {
    std::vector<Code> misfits;
    for (const passes::Check& check : kernel_.checks) {
      const Code axis = code("in$.dims[$]", check.input, check.axis);
      misfits.push_back(check.or_one ? code("($ != s$ && $ != 1)", axis, check.size, axis) : code("$ != s$", axis, check.size));
    }
    for (const passes::Pair& pair : kernel_.pairs)
      for (size_t axis = 0; axis < pair.sizes.size(); ++axis)
        misfits.push_back(code("(in$.dims[$] != s$ && in$.dims[$] != s$)", pair.first, axis, pair.sizes[axis], pair.second, axis, pair.sizes[axis]));
    for (size_t i = 0; i < kernel_.sizes.size(); ++i)
      if (is_free(static_cast<Size>(i))) misfits.push_back(code("s$ == 0", i));
    if (!misfits.empty()) w_.line("if ($) return NATIF_DECLINED;", list(misfits, " || "));
  }

  // Operands that may be broadcast: how, is known now.
  void print_strided() {
    for_each_strided([&](size_t s, size_t k, const passes::Operand& operand) {
      const uint32_t input = operand.source.index;
      const int leading = static_cast<int>(kernel_.leading.size());
      const Size width = kernel_.stages[s].width;
      w_.line("if (!stride_over(in$, $, rows, s$, k.strided$_$)) return NATIF_DECLINED;", input, leading, width, s, k);
    });
  }

  void print_allocations() {
    for (size_t s = 0; s < kernel_.stages.size(); ++s) {
      const Stage& stage = kernel_.stages[s];
      if (!stage.output) continue;
      std::vector<Code> dims;
      for (Size size : stage.shape) dims.push_back(code("s$", size));
      const uint32_t i = *stage.output;
      if (dims.empty()) dims.push_back(0);
      w_.line("const int64_t out$_dims[] = {$};", i, list(dims));
      w_.line("natif_tensor* const result$ = out$.fill();", i, i);
      w_.line("if (const natif_status status = session.host->allocate(session.call, $, $, out$_dims, result$)) return status;",
              ir::abi_number(stage.dtype), stage.shape.size(), i, i);
      w_.line("k.out$ = static_cast<$*>(result$->data);", i, element_type(i), i);
    }
  }

  void print_invariant() {
    std::vector<Code> floats;
    bool any = false;
    for (size_t s = 0; s < kernel_.stages.size(); ++s) {
      const Stage& stage = kernel_.stages[s];
      any = any || stage.invariant;
      if (stage.invariant && !stage.output) floats.push_back(code("buffer_floats($, s$)", layout_.rows_of(stage), stage.width));
    }
    if (!any) return;
    if (!floats.empty()) {
      w_.line("Scratch once;");
      w_.line("float* once_memory = static_cast<float*>(once.get(session, ($) * sizeof(float)));", list(floats, " + "));
      w_.line("if (!once_memory) return NATIF_FAILED;");
      size_t next = 0;
      for (size_t s = 0; s < kernel_.stages.size(); ++s) {
        if (!kernel_.stages[s].invariant || kernel_.stages[s].output) continue;
        w_.line("k.once$ = once_memory;", s);
        if (++next < floats.size()) w_.line("once_memory += $;", floats[next - 1]);
      }
    }
    w_.line("{");
    w_.line("const FlushDenormals flush;");
    for (size_t s = 0; s < kernel_.stages.size(); ++s)
      if (kernel_.stages[s].invariant) print_stage(w_, kernel_, layout_, s);
    w_.close();
  }

  void print_run() {
    std::vector<Code> work, bytes, weights;
    for (const Stage& stage : kernel_.stages) {
      if (stage.invariant) continue;
      for (const passes::WorkTerm& term : passes::work_of(stage)) work.push_back(product(term));
      if (stage.kind == StageKind::Contraction) weights.push_back(code("s$ * s$ * 4", stage.depth, stage.width));
    }
    std::vector<Code> buffers;
    for (Size width : layout_.buffers) {
      bytes.push_back(kernel_.flat ? Code("4") : code("s$ * 4", width));
      buffers.push_back(kernel_.flat ? Code("buffer_floats(k.block, 1)") : code("buffer_floats(k.block, s$)", width));
    }
    if (bytes.empty()) bytes.push_back("1");
    if (weights.empty()) weights.push_back("0");
    if (buffers.empty()) buffers.push_back("0");
    w_.line("k.rows = rows;");
    if (kernel_.flat) {
      w_.line("k.block = block_elements(rows, $);", layout_.buffers.size());
    } else {
      w_.line("k.block = block_rows(rows, $, $);", list(bytes, " + "), list(weights, " + "));
    }
    w_.line("const size_t scratch = ($) * sizeof(float);", list(buffers, " + "));
    w_.line("const int64_t work = $;", list(work, " + "));
    w_.line("if (const natif_status status = run_rows(session, $_rows, &k, rows, k.block, work, scratch)) return status;", name_);
  }

  Code product(const passes::WorkTerm& term) const {
    std::vector<Code> factors = {number(term.picoseconds)};
    if (!kernel_.flat)
      for (Size size : term.sizes) factors.push_back(code("s$", size));
    return list(factors, " * ");
  }

  Writer& w_;
  const ir::Function& function_;
  const Kernel& kernel_;
  const Code& name_;
  Layout layout_;
};

}  // namespace

std::set<std::string> kernel_headers(std::span<const passes::CompiledFunction> functions) {
  std::set<std::string> headers;
  for (const passes::CompiledFunction& function : functions) {
    for (const Kernel& kernel : function.kernels) {
      headers.insert("launch");
      for (const Stage& stage : kernel.stages) headers.merge(headers_of(kernel, stage));
    }
  }
  return headers;
}

void print_kernel(Writer& w, const passes::CompiledFunction& compiled, size_t kernel, const Code& name) {
  KernelWriter(w, compiled.function, compiled.kernels[kernel], name).print();
}

}  // namespace natif::codegen
