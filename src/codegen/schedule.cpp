// src/codegen/schedule.cpp: see schedule.h.
#include "codegen/schedule.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "codegen/control.h"
#include "codegen/values.h"
#include "passes/control_flow.h"
#include "passes/cost_model.h"

namespace natif::codegen {

namespace {

using ir::Node;
using ir::NodeKind;
using ir::Region;
using ir::Value;
using passes::Kernel;
using passes::Segment;

// Tensors do not exist here. Only where a variable leaves the kernel, which may hold a tensor that exists already, each stands for a number
// of its own: eager gives that very tensor, so the ops have to.
class ScheduleWriter : public ControlWriter {
 public:
  ScheduleWriter(Writer& w, Tables& tables, const ir::Function& function, const Region& region, const Layout& layout)
      : ControlWriter(w, tables, function),
        layout_(layout),
        kernel_(layout.kernel),
        region_(region),
        counts_objects_(!kernel_.variable_outputs.empty()) {
    uint32_t place = 0;
    ir::for_each_node(region, [&](const Node& node) {
      if (passes::has_place(node)) place_of_[&node] = place++;
    });
  }

  void print() {
    bool loops = false;
    ir::for_each_node(region_, [&](const Node& node) { loops = loops || node.kind == NodeKind::For || node.kind == NodeKind::Loop; });
    if (loops) w_.line("Poll<4096> poll;");
    for (size_t i = 0; i < kernel_.segments.size(); ++i)
      if (layout_.runs(i)) w_.line("const int64_t work$ = $;", i, work_of(kernel_.segments[i]));
    if (counts_objects_) {
      for (size_t i = 0; i < kernel_.inputs.size(); ++i) w_.line("[[maybe_unused]] const int64_t $ = $;", name(kernel_.inputs[i]), i);
      w_.line("int64_t objects = $;", kernel_.inputs.size());
    }
    print_known_numbers();
    print_region(region_, {});
  }

 protected:
  void print_region(const Region& region, const Targets& targets) override {
    for (const Node& node : region.nodes) {
      const auto place = place_of_.find(&node);
      const bool is_op = node.kind == NodeKind::Op;
      if (place != place_of_.end() && !is_op) record(place->second);
      if (&node == &region_.nodes.back()) {
        finish(node);
      } else {
        print_node(node, targets);
      }
      if (place != place_of_.end() && is_op) record(place->second);
    }
  }

  void print_other(const Node& node) override {
    if (node.kind == NodeKind::Dimension) return print_dimension(node);
    if (node.kind == NodeKind::Op && counts_objects_) w_.line("[[maybe_unused]] const int64_t $ = objects++;", name(node.results[0]));
  }

  bool holds(Value value) const override { return type(value).is_number() || counts_objects_; }

  void declare(Value value) override { w_.line("$ $ = 0;", type_of(value), name(value)); }
  void copy(Value to, Value from) override { w_.line("$ = $;", name(to), name(from)); }
  void keep(const Code& next, Value from) override { w_.line("const $ $ = $;", type_of(from), next, name(from)); }
  void move(Value to, const Code& next) override { w_.line("$ = $;", name(to), next); }

  void print_poll(const Region&) override { w_.line("if (const natif_status status = poll(session)) return status;"); }
  Code leave_at_fault(const Node&) override { return "return NATIF_DECLINED;"; }
  Code leave_at_step_0(const Node&) override { return "return NATIF_DECLINED;"; }

 private:
  Code type_of(Value value) const { return type(value).is_number() ? number_type(type(value)) : Code("int64_t"); }

  Code work_of(const Segment& segment) const {
    std::vector<Code> terms;
    for (uint32_t stage : segment.stages) {
      for (const passes::WorkTerm& term : passes::work_of(kernel_.stages[stage])) {
        std::vector<Code> factors = {number(term.picoseconds)};
        if (!kernel_.flat)
          for (passes::Size size : term.sizes) factors.push_back(code("s$", size));
        terms.push_back(list(factors, " * "));
      }
    }
    return terms.empty() ? Code("0") : list(terms, " + ");
  }

  // Literals that stand outside of the kernel.
  void print_known_numbers() {
    std::set<Value> read;
    for (const Node& node : region_.nodes) {
      for (Value value : passes::values_read(node)) read.insert(value);
    }
    for (const Node& node : region_.nodes)
      for (Value value : passes::values_made(node)) read.erase(value);
    for (Value value : read)
      if (const auto literal = literals_.find(value); literal != literals_.end()) print_node(*literal->second, {});
  }

  void print_dimension(const Node& node) {
    const Value number = node.results[0], tensor = node.operands[0];
    const auto known = std::find_if(kernel_.dimensions.begin(), kernel_.dimensions.end(),
                                    [&](const passes::KnownDimension& dimension) { return dimension.number == number; });
    if (known != kernel_.dimensions.end()) return w_.line("const int64_t $ = s$;", name(number), known->size);
    const auto input = std::find(kernel_.inputs.begin(), kernel_.inputs.end(), tensor);
    base::require(input != kernel_.inputs.end(), "a size in a kernel of a tensor that it does not have");
    w_.line("const int64_t $ = in$.dims[$];", name(number), input - kernel_.inputs.begin(),
            codegen::number(ir::get<int64_t>(node.attributes, "axis")));
  }

  void record(uint32_t place) {
    for (size_t i = 0; i < kernel_.segments.size(); ++i) {
      const Segment& segment = kernel_.segments[i];
      if (segment.place != place || !layout_.runs(i)) continue;
      std::vector<Code> arguments = {i, code("work$", i)};
      for (uint32_t number : segment.numbers) {
        const Code element = code("element$_$", i, number);
        w_.line("float $;", element);
        w_.line("if (!to_element($, $)) return NATIF_DECLINED;", name(kernel_.changing[number]), element);
        arguments.push_back(element);
      }
      w_.line("if (const natif_status status = schedule.add($)) return status;", list(arguments));
    }
  }

  void finish(const Node& yield) {
    const size_t tensors = kernel_.outputs.size();
    for (size_t i = tensors; i < yield.operands.size(); ++i) w_.line("left$ = $;", i - tensors, name(yield.operands[i]));
    for (uint32_t output : kernel_.variable_outputs) {
      const Code object = name(yield.operands[output]);
      std::vector<Code> exists = {code("$ < $", object, kernel_.inputs.size())};
      for (size_t other = 0; other < tensors; ++other)
        if (other != output) exists.push_back(code("$ == $", object, name(yield.operands[other])));
      w_.line("if ($) return NATIF_DECLINED;", list(exists, " || "));
    }
  }

  const Layout& layout_;
  const Kernel& kernel_;
  const Region& region_;
  const bool counts_objects_;
  std::map<const Node*, uint32_t> place_of_;
};

}  // namespace

void print_schedule(Writer& w, Tables& tables, const ir::Function& function, const Region& region, const Layout& layout) {
  ScheduleWriter(w, tables, function, region, layout).print();
}

}  // namespace natif::codegen
