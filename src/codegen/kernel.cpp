// src/codegen/kernel.cpp: the part of a kernel around its stages: its context, the checks of run-time sizes, and the launch.
#include "codegen/kernel.h"

#include <algorithm>

#include "base/error.h"
#include "codegen/schedule.h"
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
  KernelWriter(Writer& w, Tables& tables, const ir::Function& function, const Kernel& kernel, const ir::Region& region, const Code& name)
      : w_(w), tables_(tables), function_(function), kernel_(kernel), region_(region), name_(name), layout_(kernel) {}

  void print() {
    for (const Stage& stage : kernel_.stages) {
      std::vector<Code> ops;
      for (const std::string& op : stage.ops) ops.push_back(in_comment(op));
      w_.line("// $$", stage.invariant ? Code("once: ") : Code(""), list(ops));
    }
    if (kernel_.has_general_form) print_general_form();
    if (kernel_.only_general) return;
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
  bool is_scheduled() const { return !kernel_.segments.empty(); }

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
    for_each_product([&](size_t s) { w_.line("OrderedProduct product$;", s); });
    if (has_ordered_softmax(kernel_)) w_.line("SoftmaxRules softmax_order;");
    if (is_scheduled()) w_.line("Schedule* schedule;");
    w_.line("int64_t rows, block;");
    w_.line("bool declined;");
    w_.close(";");
  }

  bool is_free(Size size) const { return kernel_.sizes[size].fixed == ir::free_size; }

  Code element_type(size_t output) const {
    switch (function_.type(kernel_.outputs[output]).dtype) {
      case ir::DType::Float32:
        return "float";
      case ir::DType::Int64:
        return "int64_t";
      case ir::DType::Int32:
        return "int32_t";
      default:
        throw base::InternalError("a kernel's result of a dtype that no kernel writes");
    }
  }

  template <class F>
  void for_each_strided(const F& visit) const {
    for (size_t s = 0; s < kernel_.stages.size(); ++s)
      for (size_t k = 0; k < kernel_.stages[s].operands.size(); ++k)
        if (kernel_.stages[s].operands[k].access == passes::Access::Strided) visit(s, k, kernel_.stages[s].operands[k]);
  }

  template <class F>
  void for_each_product(const F& visit) const {
    for (size_t s = 0; s < kernel_.stages.size(); ++s)
      if (kernel_.stages[s].kind == StageKind::Contraction) visit(s);
  }

  // ---- the general form ----

  Code general_name() const { return kernel_.only_general ? name_ : code("$_general", name_); }

  void print_general_form() {
    const Code name = general_name();
    const size_t inputs = kernel_.inputs.size();
    w_.line("struct $_context {", name);
    w_.line("BroadcastShape shape;");
    w_.line("BroadcastOperand in[$];", inputs);
    if (!kernel_.numbers.empty()) w_.line("float numbers[$];", kernel_.numbers.size());
    for (size_t i = 0; i < kernel_.outputs.size(); ++i) w_.line("float* out$;", i);
    w_.line("int64_t rows, block;");
    w_.close(";");
    w_.blank();
    print_general_rows(w_, kernel_, layout_, name);
    w_.blank();
    w_.line("[[gnu::noinline]] natif_status $($) {", name, parameters());
    w_.line("$_context k;", name);
    std::vector<Code> tensors;
    for (size_t i = 0; i < inputs; ++i) tensors.push_back(code("&in$", i));
    w_.line("const natif_tensor* const tensors[] = {$};", list(tensors));
    w_.line("if (!broadcast_shape(tensors, $, $, k.shape)) return NATIF_DECLINED;", inputs, kernel_.stages.front().shape.size());
    for (const auto& cover : kernel_.covers) {
      std::vector<Code> members;
      for (uint32_t input : cover) members.push_back(code("&in$", input));
      w_.line("{");
      w_.line("const natif_tensor* const members[] = {$};", list(members));
      w_.line("if (!covers(members, $, k.shape)) return NATIF_DECLINED;", members.size());
      w_.close();
    }
    if (std::any_of(kernel_.stages.begin(), kernel_.stages.end(), [](const Stage& stage) { return stage.tail_of_two; }))
      w_.line("if (!has_one_tail(k.shape.rows, k.shape.width)) return NATIF_DECLINED;");
    for (size_t i = 0; i < inputs; ++i) w_.line("broadcast_operand(in$, k.shape, k.in[$]);", i, i);
    for (size_t i = 0; i < kernel_.numbers.size(); ++i) w_.line("if (!to_element(number$, k.numbers[$])) return NATIF_DECLINED;", i, i);
    for (size_t i = 0; i < kernel_.outputs.size(); ++i) {
      w_.line("natif_tensor* const result$ = out$.fill();", i, i);
      w_.line(
          "if (const natif_status status = session.host->allocate(session.call, NATIF_FLOAT32, k.shape.rank, k.shape.dims, result$)) "
          "return status;",
          i);
      w_.line("k.out$ = static_cast<float*>(result$->data);", i, i);
    }
    w_.line("k.rows = k.shape.rows;");
    w_.line("k.block = broadcast_block(k.rows, k.shape.width);");
    int64_t work = 0;
    for (const Stage& stage : kernel_.stages) work += passes::work_of(stage).front().picoseconds;
    w_.line("const size_t scratch = k.block * $ * sizeof(int64_t) + buffer_floats(k.block, k.shape.width) * $ * sizeof(float);", inputs,
            layout_.buffers.size());
    w_.line("return run_rows(session, $_rows, &k, k.rows, k.block, $ * k.shape.width, scratch);", name, number(work));
    w_.close();
    w_.blank();
  }

  // ---- launch ----

  // Where ops follow one rule among several: which of them hold.
  Code launch_parameters() const {
    std::vector<Code> all = {parameters()};
    if (has_product(kernel_)) all.push_back("const ProductRules& product_order");
    if (has_ordered_softmax(kernel_)) all.push_back("const SoftmaxRules& softmax_order");
    return list(all);
  }

  Code parameters() const {
    std::vector<Code> parameters = {"const Session& session"};
    for (size_t i = 0; i < kernel_.inputs.size(); ++i) parameters.push_back(code("const natif_tensor& in$", i));
    for (size_t i = 0; i < kernel_.numbers.size(); ++i)
      parameters.push_back(code("$ number$", number_type(function_.type(kernel_.numbers[i])), i));
    for (ir::Value value : kernel_.steering)
      parameters.push_back(code("$ $", number_type(function_.type(value)), name_of(function_, value)));
    for (size_t i = 0; i < kernel_.outputs.size(); ++i) parameters.push_back(code("Tensor& out$", i));
    for (size_t i = 0; i < kernel_.number_outputs.size(); ++i)
      parameters.push_back(code("$& left$", number_type(function_.type(kernel_.number_outputs[i])), i));
    return list(parameters);
  }

  void print_launch() {
    w_.line("natif_status $($) {", name_, launch_parameters());
    print_sizes();
    print_checks();
    w_.line("$_context k;", name_);
    for_each_product([&](size_t s) { w_.line("k.product$ = product$;", s, s); });
    if (has_ordered_softmax(kernel_)) w_.line("k.softmax_order = softmax_order;");
    for (size_t i = 0; i < kernel_.inputs.size(); ++i) w_.line("k.in[$] = floats_of(in$);", i, i);
    for (size_t i = 0; i < kernel_.numbers.size(); ++i) w_.line("if (!to_element(number$, k.numbers[$])) return NATIF_DECLINED;", i, i);
    for (size_t i = 0; i < kernel_.sizes.size(); ++i)
      if (is_free(static_cast<Size>(i))) w_.line("k.s$ = s$;", i, i);
    w_.line("k.declined = false;");
    if (is_scheduled()) {
      w_.line("Schedule schedule(session);");
      print_schedule(w_, tables_, function_, region_, layout_);
      w_.line("k.schedule = &schedule;");
    }
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
        misfits.push_back(
            code("(in$.dims[$] != s$ && in$.dims[$] != s$)", pair.first, axis, pair.sizes[axis], pair.second, axis, pair.sizes[axis]));
    for (size_t i = 0; i < kernel_.sizes.size(); ++i)
      if (is_free(static_cast<Size>(i))) misfits.push_back(code("s$ == 0", i));
    if (!misfits.empty())
      w_.line("if ($) return $;", list(misfits, " || "), kernel_.has_general_form ? general_call() : Code("NATIF_DECLINED"));
    for (size_t s = 0; s < kernel_.stages.size(); ++s) print_domain(s);
  }

  // Sizes for which a stage gives eager's bits, and no slower.
  void print_domain(size_t index) {
    const Stage& stage = kernel_.stages[index];
    if (stage.broadcast_tail && !stage.invariant) w_.line("if (!has_one_tail(rows, s$)) return NATIF_DECLINED;", stage.width);
    if (stage.kind == StageKind::Contraction) {
      if (stage.of_batch) {
        w_.line("const OrderedProduct product$ = ordered_batch_product(s$, s$, $);", index, stage.depth, stage.width,
                boolean(stage.transpose_right));
      } else {
        w_.line("const OrderedProduct product$ = ordered_product(product_order, {rows, s$, s$, $, $});", index, stage.depth, stage.width,
                boolean(stage.transpose_left), boolean(stage.transpose_right));
      }
      const std::vector<Size>& axes = kernel_.leading;
      if (axes.size() > 2) w_.line("if (is_miscomputed_batch(s$, rows / s$)) return NATIF_DECLINED;", axes[axes.size() - 2], axes.back());
      const Code left = passes::packed_parameter(kernel_, stage) ? code("is_large_packed_product(s$, s$)", stage.depth, stage.width)
                                                                 : code("is_large_product(rows, s$, s$)", stage.depth, stage.width);
      w_.line("if (product$.order == ProductOrder::kUnknown || $) return NATIF_DECLINED;", index, left);
    }
    if (stage.kind == StageKind::Softmax && !kernel_.fast)
      w_.line("if (!is_known_softmax(softmax_order, rows, s$)) return NATIF_DECLINED;", stage.width);
    if (stage.kind != StageKind::Reduction || stage.axes) return;
    const Code others = stage.over_rows ? code("s$", stage.width) : Code("rows");
    w_.line("if (is_shared_reduction($, s$)) return NATIF_DECLINED;", others, stage.depth);
  }

  Code general_call() const {
    std::vector<Code> arguments = {"session"};
    for (size_t i = 0; i < kernel_.inputs.size(); ++i) arguments.push_back(code("in$", i));
    for (size_t i = 0; i < kernel_.numbers.size(); ++i) arguments.push_back(code("number$", i));
    for (size_t i = 0; i < kernel_.outputs.size(); ++i) arguments.push_back(code("out$", i));
    return code("$_general($)", name_, list(arguments));
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
      if (!is_scheduled())
        for (const passes::WorkTerm& term : passes::work_of(stage)) work.push_back(product(term));
      if (stage.kind == StageKind::Contraction) weights.push_back(code("s$ * s$ * 4", stage.depth, stage.width));
    }
    std::vector<Code> buffers;
    for (Size width : layout_.buffers) {
      bytes.push_back(kernel_.flat ? Code("4") : code("s$ * 4", width));
      buffers.push_back(kernel_.flat ? Code("buffer_floats(k.block, 1)") : code("buffer_floats(k.block, s$)", width));
    }
    if (is_scheduled()) work.push_back("schedule.work()");
    if (bytes.empty()) bytes.push_back("1");
    if (weights.empty()) weights.push_back("0");
    if (buffers.empty()) buffers.push_back("0");
    w_.line("k.rows = rows;");
    for_each_product([&](size_t s) { print_right(w_, kernel_, layout_, s); });
    if (kernel_.flat) {
      w_.line("k.block = block_elements(rows, $);", layout_.buffers.size());
    } else {
      w_.line("k.block = block_rows(rows, $, $);", list(bytes, " + "), list(weights, " + "));
    }
    w_.line("const size_t scratch = ($) * sizeof(float);", list(buffers, " + "));
    w_.line("const int64_t work = $;", list(work, " + "));
    w_.line("if (const natif_status status = run_rows(session, $_rows, &k, rows, k.block, work, scratch)) return status;", name_);
    if (is_scheduled()) w_.line("if (schedule.interrupted()) return NATIF_FAILED;");
  }

  Code product(const passes::WorkTerm& term) const {
    std::vector<Code> factors = {number(term.picoseconds)};
    if (!kernel_.flat)
      for (Size size : term.sizes) factors.push_back(code("s$", size));
    return list(factors, " * ");
  }

  Writer& w_;
  Tables& tables_;
  const ir::Function& function_;
  const Kernel& kernel_;
  const ir::Region& region_;
  const Code& name_;
  Layout layout_;
};

// The Kernel node with this number.
const ir::Node& node_of(const ir::Function& function, size_t kernel) {
  const ir::Node* found = nullptr;
  ir::for_each_node(function.body, [&](const ir::Node& node) {
    const bool is_it = node.kind == ir::NodeKind::Kernel && static_cast<size_t>(ir::get<int64_t>(node.attributes, "kernel")) == kernel;
    if (is_it) found = &node;
  });
  base::require(found, "a kernel that the function does not have");
  return *found;
}

}  // namespace

std::set<std::string> kernel_headers(std::span<const passes::CompiledFunction> functions) {
  std::set<std::string> headers;
  for (const passes::CompiledFunction& function : functions) {
    for (const Kernel& kernel : function.kernels) {
      headers.insert("launch");
      if (kernel.has_general_form) headers.insert("broadcast");
      if (!kernel.segments.empty()) headers.insert("schedule");
      if (kernel.fast) headers.insert("math_fast");
      for (const Stage& stage : kernel.stages) headers.merge(headers_of(kernel, stage));
    }
  }
  return headers;
}

void print_kernel(Writer& w, Tables& tables, const passes::CompiledFunction& compiled, size_t kernel, const Code& name) {
  const ir::Function& function = compiled.function;
  KernelWriter(w, tables, function, compiled.kernels[kernel], node_of(function, kernel).regions[0], name).print();
}

}  // namespace natif::codegen
