// src/codegen/control.h: prints the regions of a graph as C++ control flow. What happens at ops, and what becomes of tensors, is up to the
// code that it is printed for: the entry of a function, or the recording of a kernel's schedule.
#pragma once

#include <map>
#include <vector>

#include "codegen/tables.h"
#include "codegen/writer.h"
#include "ir/graph.h"

namespace natif::codegen {

class ControlWriter {
 public:
  ControlWriter(Writer&, Tables&, const ir::Function&);
  virtual ~ControlWriter() = default;
  ControlWriter(const ControlWriter&) = delete;
  ControlWriter& operator=(const ControlWriter&) = delete;

 protected:
  /// Where yield, continue and break of the region being printed put their values.
  struct Targets {
    std::vector<ir::Value> yielded;                // results of the innermost `if` or kernel
    std::vector<ir::Value> carried, loop_results;  // of the innermost loop: its arguments that continue() sets, its results
  };

  /// The nodes of a region, in order.
  virtual void print_region(const ir::Region&, const Targets&);
  void print_node(const ir::Node&, const Targets&);

  /// Op, ToTensor, Dimension, Kernel and Return.
  virtual void print_other(const ir::Node&) = 0;
  /// Whether the value exists in this code.
  virtual bool holds(ir::Value) const = 0;
  /// A variable for it, to be set later.
  virtual void declare(ir::Value) = 0;
  virtual void copy(ir::Value to, ir::Value from) = 0;
  /// A copy of `from` under another name, and what moves it into `to`.
  virtual void keep(const Code& next, ir::Value from) = 0;
  virtual void move(ir::Value to, const Code& next) = 0;
  /// Begins an iteration.
  virtual void print_poll(const ir::Region& body) = 0;
  /// The statement that leaves the function where arithmetic has a `fault`.
  virtual Code leave_at_fault(const ir::Node&) = 0;
  /// The statement that leaves it where a range has the step 0.
  virtual Code leave_at_step_0(const ir::Node&) = 0;

  Code name(ir::Value) const;
  const ir::Type& type(ir::Value value) const { return function_.type(value); }

  Writer& w_;
  Tables& tables_;
  const ir::Function& function_;
  std::map<ir::Value, const ir::Node*> literals_;

 private:
  void print_if(const ir::Node&, Targets);
  Targets begin_loop(const ir::Node&, size_t first_argument, size_t first_operand);
  void print_for(const ir::Node&);
  void print_loop(const ir::Node&);
  void declare_all(const std::vector<ir::Value>&);
  /// All of `to` = all of `from` at once.
  void assign(const std::vector<ir::Value>& to, const std::vector<ir::Value>& from);
  void assign_crossing(const std::vector<ir::Value>& to, const std::vector<ir::Value>& from, const std::vector<size_t>& moves);
};

}  // namespace natif::codegen
