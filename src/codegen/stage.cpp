// src/codegen/stage.cpp: see stage.h.
#include "codegen/stage.h"

#include <algorithm>

#include "base/error.h"
#include "codegen/block_epilogue.h"
#include "codegen/expression.h"
#include "passes/cost_model.h"

namespace natif::codegen {

namespace {

using passes::Access;
using passes::Kernel;
using passes::Operand;
using passes::Size;
using passes::Source;
using passes::Stage;
using passes::StageKind;

}  // namespace

namespace {

bool has_static_sizes(const Kernel& kernel, const Stage& stage) {
  return kernel.sizes[stage.depth].fixed != ir::free_size && kernel.sizes[stage.width].fixed != ir::free_size;
}

}  // namespace

bool has_product(const Kernel& kernel) {
  return std::any_of(kernel.stages.begin(), kernel.stages.end(),
                     [](const Stage& stage) { return stage.kind == StageKind::Contraction && !stage.of_batch; });
}

bool has_ordered_softmax(const Kernel& kernel) {
  return !kernel.fast &&
         std::any_of(kernel.stages.begin(), kernel.stages.end(), [](const Stage& stage) { return stage.kind == StageKind::Softmax; });
}

std::set<std::string> headers_of(const Kernel& kernel, const Stage& stage) {
  switch (stage.kind) {
    case StageKind::Pointwise:
      return {"pointwise"};
    case StageKind::Contraction:
      if (passes::packed_parameter(kernel, stage)) return {"product_packed"};
      if (has_static_sizes(kernel, stage)) return {"product_right", "product_rows"};
      return {"pointwise", "product_block", "product_right"};
    case StageKind::Softmax:
      return {kernel.fast ? "softmax_fast" : "softmax_order"};
    case StageKind::Reduction:
      return {stage.axes ? "reduce_axes" : "reduce"};
    case StageKind::ArgReduction:
      return {"argmax"};
    case StageKind::Transpose:
      return {"transpose"};
  }
  return {};
}

namespace {

class StageWriter {
 public:
  StageWriter(Writer& w, const Kernel& kernel, const Layout& layout, size_t index, bool general = false)
      : w_(w), kernel_(kernel), layout_(layout), index_(index), stage_(kernel.stages[index]), general_(general) {}

  // The right matrix of a product, before the rows.
  void print_right() {
    const Code memory = stage_.transpose_right ? code("&right$", index_) : Code("nullptr");
    if (stage_.transpose_right) w_.line("Scratch right$;", index_);
    if (const auto parameter = passes::packed_parameter(kernel_, stage_)) {
      w_.line("if (const natif_status status = place_packed<$, $, $>(session, $, $, $, k.product$, $)) return status;",
              number(kernel_.sizes[stage_.depth].fixed), number(kernel_.sizes[stage_.width].fixed), boolean(stage_.transpose_right), memory,
              *parameter, stage_.result, index_, pointer(1));
    } else {
      w_.line("if (const natif_status status = place_right(session, $, k.product$, $)) return status;", memory, index_, pointer(1));
    }
  }

  void print() {
    switch (stage_.kind) {
      case StageKind::Pointwise:
        return print_pointwise();
      case StageKind::Contraction:
        return print_product();
      case StageKind::Softmax:
        return print_softmax();
      case StageKind::Reduction:
        return print_reduction();
      case StageKind::ArgReduction:
        return print_arg_reduction();
      case StageKind::Transpose:
        return print_transpose();
    }
  }

  // The first element of a stage's result in the block at hand.
  Code result_of(size_t stage) const {
    const Stage& other = kernel_.stages[stage];
    const Code base = other.output      ? code("k.out$", *other.output)
                      : other.invariant ? code("k.once$", stage)
                                        : code("buffer$", layout_.buffer_of_stage[stage]);
    if (other.invariant || !other.output) return base;
    return code("$ + first * $", base, size(other.width));
  }

 private:
  // ---- places ----

  Code size(Size size) const { return general_ ? Code("width") : kernel_.flat ? Code("Size<1>{}") : code("z$", size); }
  Code width() const { return stage_.invariant ? code("Dynamic{s$}", stage_.width) : size(stage_.width); }
  Code rows() const { return stage_.invariant ? layout_.rows_of(stage_) : Code("rows"); }

  Code tail() const {
    if (!stage_.tail_matters) return "kNoTail";
    if (stage_.invariant) return code("flat_tail($, $, 0, $)", rows(), width(), rows());
    return code("flat_tail(k.rows, $, first, rows)", width());
  }

  // The first element of what a stage or a variable holds in the block at hand.
  Code place_of(const Source& source) const {
    return source.kind == Source::Kind::Variable ? code("buffer$", layout_.buffer_of(source)) : result_of(source.index);
  }

  Code output() const { return code("Output{$, $}", result_of(index_), width()); }

  Code read(size_t position) const {
    const Operand& operand = stage_.operands[position];
    const Source& source = operand.source;
    if (source.kind == Source::Kind::Number) return code("Scalar{opaque(k.numbers[$])}", source.index);
    if (source.kind == Source::Kind::Changing) return code("Scalar{opaque(number$)}", source.index);
    const bool is_input = source.kind == Source::Kind::Input;
    if (general_ && is_input)
      return code("Gathered{k.in[$].data, offsets + $ * k.block, k.in[$].one_column}", source.index, source.index, source.index);
    if (operand.access == Access::Strided) return strided(position);
    const Code base = is_input ? code("k.in[$]", source.index) : place_of(source);
    const bool moves = is_input && !stage_.invariant;  // inputs are given from their first row on
    switch (operand.access) {
      case Access::Full:
        return moves ? code("Full{$ + first * $, $}", base, columns(), columns()) : code("Full{$, $}", base, columns());
      case Access::Row:
        return code("Row{$}", base);
      case Access::Column:
        return moves ? code("Column{$ + first}", base) : code("Column{$}", base);
      case Access::Scalar:
        return code("Scalar{*($)}", base);
      case Access::Strided:
        break;
    }
    throw base::InternalError("an operand without access");
  }

  // The columns of a whole operand: those of the result, except in loops along a row.
  Code columns() const {
    if (stage_.kind == StageKind::Pointwise || stage_.kind == StageKind::Contraction) return width();
    return stage_.invariant ? code("Dynamic{s$}", stage_.depth) : size(stage_.depth);
  }

  Code strided(size_t position) const {
    const Code view = code("k.strided$_$", index_, position);
    return code("Strided{$.data + first * $.row_stride, $.row_stride, $.one_column}", view, view, view, view);
  }

  // ---- loops ----

  void print_pointwise() {
    std::vector<Code> parameters, inputs, operands;
    for (size_t i = 0; i < stage_.operands.size(); ++i) {
      inputs.push_back(code("x$", i));
      parameters.push_back(code("auto x$", i));
      operands.push_back(read(i));
    }
    if (inputs.empty()) {  // of constants alone
      inputs.push_back("x0");
      parameters.push_back("auto x0");
      operands.push_back("Scalar{0.0f}");
    }
    print_map(stage_.expression, inputs, parameters, operands);
  }

  void print_map(const ir::Expression& expression, const std::vector<Code>& inputs, const std::vector<Code>& parameters,
                 const std::vector<Code>& operands) {
    const Code name = code("stage$", index_);
    print_expression(w_, name, code("[]($)", list(parameters)), inputs[0], expression, inputs, kernel_.fast);
    w_.line("map($, $, $, $, $, $);", output(), rows(), width(), tail(), name, list(operands));
  }

  // With sizes known when compiling, tiles of just these sizes, which take the epilogue; otherwise the artifact's one product, and a
  // pointwise loop.
  void print_product() { has_static_sizes(kernel_, stage_) ? print_static_product() : print_dynamic_product(); }

  void print_static_product() {
    std::vector<Code> inputs = {"acc"};
    for (size_t i = 2; i < stage_.operands.size(); ++i) inputs.push_back(code("at($)", read(i)));
    const Code name = code("stage$", index_), depth = size(stage_.depth);
    print_expression(w_, name, "[&](auto acc, [[maybe_unused]] auto at)", "acc", stage_.expression, inputs, kernel_.fast);
    const Code left =
        stage_.transpose_left ? code("Left{$, Size<1>{}, Dynamic{k.rows}}", left_data()) : code("Left{$, $}", left_data(), depth);
    const Code rows = passes::packed_parameter(kernel_, stage_) ? Code("packed_product_rows") : Code("product_rows");
    w_.line("$(k.product$, $, first, rows, $, $, $, $, $);", rows, index_, output(), depth, width(), left, tail(), name);
  }

  void print_dynamic_product() {
    const Code depth = size(stage_.depth), row_stride = stage_.transpose_left ? Code("1") : depth;
    const Code k_stride = stage_.transpose_left ? Code("Dynamic{k.rows}") : Code("Size<1>{}");
    const BlockEpilogue epilogue = block_epilogue(stage_);
    const Code bias = epilogue.bias ? pointer(2 + *epilogue.bias) : Code("nullptr");
    w_.line("product_block(k.product$, $, first, rows, $, $, $, BlockEpilogue{$, $, $});", index_, output(), left_data(), row_stride,
            k_stride, bias, boolean(epilogue.relu), epilogue.relu ? tail() : Code("kNoTail"));
    if (epilogue.rest.terms[epilogue.rest.result.index].kind == ir::Expression::Kind::Input) return;
    std::vector<Code> inputs = {"x0"}, parameters = {"auto x0"}, operands = {code("Full{$, $}", result_of(index_), width())};
    for (size_t i = 2; i < stage_.operands.size(); ++i) {
      const Code name = code("x$", i - 1);
      inputs.push_back(name);
      if (epilogue.bias && *epilogue.bias + 2 == i) continue;
      parameters.push_back(code("auto $", name));
      operands.push_back(read(i));
    }
    print_map(epilogue.rest, inputs, parameters, operands);
  }

  // The first element of an operand that is the same for all rows.
  Code pointer(size_t position) const {
    const Source& source = stage_.operands[position].source;
    return source.kind == Source::Kind::Input ? code("k.in[$]", source.index) : result_of(source.index);
  }

  Code left_data() const {
    const Source& source = stage_.operands[0].source;
    if (source.kind != Source::Kind::Input) return place_of(source);
    return stage_.transpose_left ? code("k.in[$] + first", source.index) : code("k.in[$] + first * $", source.index, size(stage_.depth));
  }

  void decline_unless(const Code& condition) {
    w_.line("if (!$) return __atomic_store_n(&k.declined, true, __ATOMIC_RELAXED);", condition);
  }

  void print_softmax() {
    if (layout_.joined[index_]) return;
    if (kernel_.fast) return w_.line("fast_softmax_rows($, rows, $, $);", output(), width(), read(0));
    decline_unless(code("softmax_in_order(k.softmax_order, $, first, rows, k.rows, $, $)", output(), width(), read(0)));
  }

  void print_arg_reduction() {
    if (stage_.over_rows)
      return w_.line("argmax_columns(k.out$, s$, $, $);", *stage_.output, stage_.depth, code("Dynamic{s$}", stage_.width), rows_read());
    const Code indices = code("k.out$ + first", *stage_.output);
    const Source& source = stage_.operands[0].source;
    if (source.kind != Source::Kind::Stage || !layout_.joined[source.index])
      return w_.line("argmax_rows($, rows, $, $);", indices, columns(), read(0));
    const StageWriter softmax(w_, kernel_, layout_, source.index);
    const bool keep = softmax.stage_.output.has_value() || is_read_after(kernel_, source.index, index_ + 1);
    if (kernel_.fast)
      return w_.line("fast_softmax_argmax_rows<$>($, $, rows, $, $);", boolean(keep), softmax.output(), indices, columns(),
                     softmax.read(0));
    decline_unless(code("softmax_argmax_in_order<$>(k.softmax_order, $, $, first, rows, k.rows, $, $)", boolean(keep), softmax.output(),
                        indices, columns(), softmax.read(0)));
  }

  // The whole operand of a reduction over rows.
  Code rows_read() const {
    const Source& source = stage_.operands[0].source;
    base::require(source.kind == Source::Kind::Input, "a reduction over rows reads an input");
    return code("Full{k.in[$], s$}", source.index, stage_.width);
  }

  Code reduction() const {
    switch (stage_.reduction) {
      case ops::Reduction::Sum:
        return "Sum";
      case ops::Reduction::Mean:
        return "Mean";
      case ops::Reduction::Max:
        return "Max";
      case ops::Reduction::Min:
        return "Min";
      case ops::Reduction::Prod:
        return "Prod";
      case ops::Reduction::None:
        break;
    }
    throw base::InternalError("a reduction of no kind");
  }

  void print_reduction() {
    if (stage_.axes) {
      const uint32_t input = stage_.operands[0].source.index;
      return w_.line("if (!reduce_axes<$>($, in$.dims, in$.rank, $, k.in[$])) return NATIF_DECLINED;", reduction(), result_of(index_),
                     input, input, *stage_.axes, input);
    }
    if (stage_.over_rows)
      return w_.line("reduce_first<$>($, s$, $, $);", reduction(), result_of(index_), stage_.depth, width(), rows_read());
    w_.line("reduce_last<$>($, rows, $, $, first);", reduction(), result_of(index_), columns(), read(0));
  }

  void print_transpose() {
    const Source& source = stage_.operands[0].source;
    base::require(source.kind == Source::Kind::Input, "a transpose reads an input");
    const Code across = rows();
    w_.line("transpose_rows($, $, $, Full{k.in[$], $});", output(), width(), across, source.index, across);
  }

  Writer& w_;
  const Kernel& kernel_;
  const Layout& layout_;
  size_t index_;
  const Stage& stage_;
  bool general_;
};

}  // namespace

void print_stage(Writer& w, const Kernel& kernel, const Layout& layout, size_t stage) { StageWriter(w, kernel, layout, stage).print(); }

void print_right(Writer& w, const Kernel& kernel, const Layout& layout, size_t stage) {
  StageWriter(w, kernel, layout, stage).print_right();
}

namespace {

void print_transfer(Writer& w, const Kernel& kernel, const Layout& layout, const Transfer& transfer, Size width) {
  if (transfer.swaps) return w.line("swap_buffers(buffer$, buffer$);", transfer.to, transfer.from);
  const Code from =
      transfer.from >= 0 ? code("buffer$", transfer.from) : StageWriter(w, kernel, layout, transfer.source).result_of(transfer.source);
  w.line("copy_block(buffer$, $, rows * $);", transfer.to, from, kernel.flat ? Code("1") : code("z$", width));
}

// What the schedule of a kernel with control flow says, for one block.
void print_segments(Writer& w, const Kernel& kernel, const Layout& layout) {
  w.line("for (schedule.restart(); !schedule.at_end();) {");
  w.line("if (!schedule.goes_on()) return;");
  w.line("switch (schedule.segment()) {");
  for (size_t i = 0; i < kernel.segments.size(); ++i) {
    const passes::Segment& segment = kernel.segments[i];
    if (!layout.runs(i)) continue;
    w.line("case $: {", i);
    for (uint32_t number : segment.numbers) w.line("const float number$ = schedule.element();", number);
    for (uint32_t stage : segment.stages) print_stage(w, kernel, layout, stage);
    for (const Transfer& transfer : layout.transfers[i])
      print_transfer(w, kernel, layout, transfer, layout.buffers[static_cast<size_t>(transfer.to)]);
    w.line("break;");
    w.close();
  }
  w.close();
  w.close();
}

}  // namespace

void print_rows(Writer& w, const Kernel& kernel, const Layout& layout, const Code& name) {
  w.line("void $_rows(void* context, int64_t begin, int64_t end, [[maybe_unused]] void* memory) {", name);
  w.line("$_context& k = *static_cast<$_context*>(context);", name, name);
  if (!kernel.flat) {
    for (size_t i = 0; i < kernel.sizes.size(); ++i) {
      const int64_t fixed = kernel.sizes[i].fixed;
      if (fixed == ir::free_size) {
        w.line("[[maybe_unused]] const Dynamic z${k.s$};", i, i);
      } else {
        w.line("[[maybe_unused]] constexpr Size<$> z${};", number(fixed), i);
      }
    }
  }
  const Code type = layout.swaps_buffers() ? Code("float*") : Code("float* const");
  for (size_t b = 0; b < layout.buffers.size(); ++b) {
    if (b == 0) {
      w.line("$ buffer0 = static_cast<float*>(memory);", type);
    } else {
      const Size before = layout.buffers[b - 1];
      w.line("$ buffer$ = buffer$ + buffer_floats(k.block, $);", type, b, b - 1, kernel.flat ? Code("1") : code("z$", before));
    }
  }
  const bool scheduled = !kernel.segments.empty();
  if (scheduled) w.line("ScheduleReader schedule(*k.schedule);");
  w.line("for (int64_t first = begin; first < end; first += k.block) {");
  w.line("const int64_t rows = end - first < k.block ? end - first : k.block;");
  if (scheduled) {
    print_segments(w, kernel, layout);
  } else {
    for (size_t s = 0; s < kernel.stages.size(); ++s)
      if (!kernel.stages[s].invariant) print_stage(w, kernel, layout, s);
  }
  w.close();
  w.close();
}

void print_general_rows(Writer& w, const Kernel& kernel, const Layout& layout, const Code& name) {
  const size_t inputs = kernel.inputs.size();
  w.line("void $_rows(void* context, int64_t begin, int64_t end, void* memory) {", name);
  w.line("const $_context& k = *static_cast<const $_context*>(context);", name, name);
  w.line("const Dynamic width{k.shape.width};");
  w.line("int64_t* const offsets = static_cast<int64_t*>(memory);");
  for (size_t b = 0; b < layout.buffers.size(); ++b) {
    if (b == 0) {
      w.line("float* const buffer0 = reinterpret_cast<float*>(offsets + k.block * $);", inputs);
    } else {
      w.line("float* const buffer$ = buffer$ + buffer_floats(k.block, width);", b, b - 1);
    }
  }
  w.line("for (int64_t first = begin; first < end; first += k.block) {");
  w.line("const int64_t rows = end - first < k.block ? end - first : k.block;");
  w.line("for (int64_t i = 0; i < $; ++i) row_offsets(k.shape, k.in[i], first, rows, offsets + i * k.block);", inputs);
  for (size_t s = 0; s < kernel.stages.size(); ++s) StageWriter(w, kernel, layout, s, true).print();
  w.close();
  w.close();
}

}  // namespace natif::codegen
