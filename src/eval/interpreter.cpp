// src/eval/interpreter.cpp: walks a function's graph, with a cell for each value. It reads the graph's rules as they are written in
// ir/graph.h.
#include <array>
#include <new>
#include <utility>

#include "eval/program.h"
#include "eval/scalar.h"
#include "kernels/scalar.h"

namespace natif::eval {

namespace {

using ir::Node;
using ir::NodeKind;
using ir::Region;
using ir::Value;

struct Session {
  const natif_host& host;
  natif_call* call;
};

/// A reference to a tensor of the host, or to none.
class Tensor {
 public:
  Tensor() = default;
  /// Takes over a reference that the caller has.
  Tensor(const Session& session, const natif_tensor& view) : session_(&session), view_(view) {}
  Tensor(const Tensor& other) : session_(other.session_), view_(other.view_) {
    if (session_) session_->host.retain(session_->call, &view_);
  }
  Tensor(Tensor&& other) noexcept : session_(std::exchange(other.session_, nullptr)), view_(other.view_) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(session_, other.session_);
    std::swap(view_, other.view_);
    return *this;
  }
  ~Tensor() {
    if (session_) session_->host.release(session_->call, &view_);
  }

  const natif_tensor& view() const { return view_; }
  /// Gives the reference away.
  natif_tensor give() {
    session_ = nullptr;
    return view_;
  }

 private:
  const Session* session_ = nullptr;
  natif_tensor view_{};
};

/// A value of the graph: a number or a tensor, by its type.
struct Cell {
  natif_scalar scalar{};
  Tensor tensor;
};

/// How a region was left.
enum class Exit { Yield, Continue, Break, Return, Failed, Declined };

Exit exit_of(natif_status status) { return status == NATIF_DECLINED ? Exit::Declined : Exit::Failed; }

class Interpreter {
 public:
  Interpreter(const Program& program, const Session& session)
      : program_(program), function_(program.function), session_(session), cells_(function_.values.size()) {}

  natif_status run(natif_frame& frame) {
    for (size_t i = 0; i < function_.parameters.size(); ++i) load(frame.parameters[i], function_.parameters[i].value);
    const Exit exit = region(function_.body);
    if (exit == Exit::Declined) return NATIF_DECLINED;
    if (exit != Exit::Return) return NATIF_FAILED;
    for (size_t i = 0; i < function_.results.size(); ++i) {
      if (function_.results[i].is_tensor()) {
        frame.results[i].tensor = leaving_[i].tensor.give();
      } else {
        frame.results[i].scalar = leaving_[i].scalar;
      }
    }
    return NATIF_OK;
  }

 private:
  void load(const natif_slot& slot, Value value) {
    if (function_.type(value).is_number()) {
      cells_[value].scalar = slot.scalar;
    } else {
      session_.host.retain(session_.call, &slot.tensor);
      cells_[value].tensor = Tensor(session_, slot.tensor);
    }
  }

  /// Runs the nodes; the values that the terminator names are then in `leaving_`.
  Exit region(const Region& region) {
    for (const Node& node : region.nodes) {
      if (ir::is_terminator(node.kind)) return leave(node);
      if (Exit exit = Exit::Yield; !step(node, exit)) return exit;
    }
    return Exit::Failed;
  }

  Exit leave(const Node& node) {
    leaving_.clear();
    for (Value operand : node.operands) leaving_.push_back(cells_[operand]);
    switch (node.kind) {
      case NodeKind::Continue:
        return Exit::Continue;
      case NodeKind::Break:
        return Exit::Break;
      case NodeKind::Return:
        return Exit::Return;
      default:
        return Exit::Yield;
    }
  }

  /// Moves what the last terminator named into `values`.
  void arrive(const Value* values) {
    for (size_t i = 0; i < leaving_.size(); ++i) cells_[values[i]] = std::move(leaving_[i]);
    leaving_.clear();
  }

  /// Runs one node. False where control leaves the region, by `exit`.
  bool step(const Node& node, Exit& exit) {
    switch (node.kind) {
      case NodeKind::Op:
        return passed(op(node), exit);
      case NodeKind::Scalar:
        return passed(scalar(node), exit);
      case NodeKind::ToTensor:
        return passed(to_tensor(node), exit);
      case NodeKind::Literal:
        return literal(node);
      case NodeKind::Dimension:
        return dimension(node);
      case NodeKind::If:
        return branch(node, node.regions[cells_[node.operands[0]].scalar.i ? 0 : 1], exit);
      case NodeKind::Kernel:
        return branch(node, node.regions[0], exit);
      case NodeKind::For:
        return count(node, exit);
      default:
        return loop(node, exit);
    }
  }

  static bool passed(natif_status status, Exit& exit) {
    if (status != NATIF_OK) exit = exit_of(status);
    return status == NATIF_OK;
  }

  natif_status op(const Node& node) {
    const Site& site = program_.sites.at(&node);
    std::vector<natif_tensor> constants(site.constants.size());
    std::vector<const natif_tensor*> operands;
    for (Value operand : node.operands) operands.push_back(&cells_[operand].tensor.view());
    for (size_t i = 0; i < constants.size(); ++i) {
      const natif_status status = session_.host.constant(session_.call, site.constants[i], &constants[i]);
      if (status != NATIF_OK) return status;
      operands.push_back(&constants[i]);
    }
    std::vector<natif_tensor> results(node.results.size());
    const natif_status status = session_.host.run_op(session_.call, site.site, operands.data(), results.data());
    if (status != NATIF_OK) return status;
    for (size_t i = 0; i < results.size(); ++i) cells_[node.results[i]].tensor = Tensor(session_, results[i]);
    return NATIF_OK;
  }

  natif_status scalar(const Node& node) {
    std::array<ir::Type::Kind, 2> kinds{};
    std::array<natif_scalar, 2> operands{};
    const size_t operand_count = node.operands.size();
    for (size_t i = 0; i < operand_count; ++i) {
      kinds[i] = function_.type(node.operands[i]).kind;
      operands[i] = cells_[node.operands[i]].scalar;
    }
    natif_scalar result{};
    if (const auto error = apply(node.scalar, {kinds.data(), operand_count}, {operands.data(), operand_count}, result))
      return fail(node, *error);
    cells_[node.results[0]].scalar = result;
    return NATIF_OK;
  }

  natif_status fail(const Node& node, const ScalarError& error) {
    if (error.error == 0) return NATIF_DECLINED;
    return session_.host.fail(session_.call, error.error, program_.spans.at(&node), error.text);
  }

  natif_status to_tensor(const Node& node) {
    const ir::Type::Kind kind = function_.type(node.operands[0]).kind;
    const int32_t abi_kind = kind == ir::Type::Kind::Int ? NATIF_INT : kind == ir::Type::Kind::Float ? NATIF_FLOAT : NATIF_BOOLEAN;
    const int32_t dtype = ir::abi_number(function_.type(node.results[0]).dtype);
    natif_tensor result{};
    const natif_status status = session_.host.from_scalar(session_.call, abi_kind, cells_[node.operands[0]].scalar, dtype, &result);
    if (status == NATIF_OK) cells_[node.results[0]].tensor = Tensor(session_, result);
    return status;
  }

  bool literal(const Node& node) {
    natif_scalar& cell = cells_[node.results[0]].scalar;
    const ir::AttributeValue& value = *ir::find(node.attributes, "value");
    if (const double* real = std::get_if<double>(&value)) {
      cell.f = *real;
    } else if (const int64_t* integer = std::get_if<int64_t>(&value)) {
      cell.i = *integer;
    } else {
      cell.i = std::get<bool>(value);
    }
    return true;
  }

  bool dimension(const Node& node) {
    const auto axis = static_cast<size_t>(ir::get<int64_t>(node.attributes, "axis"));
    cells_[node.results[0]].scalar.i = cells_[node.operands[0]].tensor.view().dims[axis];
    return true;
  }

  bool branch(const Node& node, const Region& taken, Exit& exit) {
    exit = region(taken);
    if (exit != Exit::Yield) return false;
    arrive(node.results.data());
    return true;
  }

  bool count(const Node& node, Exit& exit) {
    const int64_t start = cells_[node.operands[0]].scalar.i, stop = cells_[node.operands[1]].scalar.i,
                  step = cells_[node.operands[2]].scalar.i;
    if (step == 0) return passed(fail(node, {NATIF_VALUE_ERROR, "range() arg 3 must not be zero"}), exit);
    const std::vector<Value>& arguments = node.regions[0].arguments;
    take_initial(node, 3);
    const uint64_t iterations = kernels::scalar::range_length(start, stop, step);
    for (uint64_t i = 0; i < iterations; ++i) {
      arrive(arguments.data() + 1);
      // In 64 bits without sign: i * step may pass what a signed int holds, their sum with start does not.
      cells_[arguments[0]].scalar.i = static_cast<int64_t>(static_cast<uint64_t>(start) + i * static_cast<uint64_t>(step));
      if (!iterate(node.regions[0], exit)) return false;
      if (exit == Exit::Break) break;
    }
    arrive(node.results.data());
    return true;
  }

  bool loop(const Node& node, Exit& exit) {
    take_initial(node, 0);
    do {
      arrive(node.regions[0].arguments.data());
      if (!iterate(node.regions[0], exit)) return false;
    } while (exit != Exit::Break);
    arrive(node.results.data());
    return true;
  }

  void take_initial(const Node& node, size_t first) {
    leaving_.clear();
    for (size_t i = first; i < node.operands.size(); ++i) leaving_.push_back(cells_[node.operands[i]]);
  }

  /// One iteration of a loop. False where it leaves more than the loop.
  bool iterate(const Region& body, Exit& exit) {
    exit = region(body);
    if (exit != Exit::Continue && exit != Exit::Break) return false;
    return ++iterations_ % poll_period != 0 || passed(session_.host.poll(session_.call), exit);
  }

  static constexpr uint32_t poll_period = 64;

  const Program& program_;
  const ir::Function& function_;
  const Session& session_;
  std::vector<Cell> cells_;
  std::vector<Cell> leaving_;
  uint32_t iterations_ = 0;
};

}  // namespace

natif_status interpret(const Program& program, const natif_host& host, natif_call* call, natif_frame* frame) {
  const Session session{host, call};
  try {
    return Interpreter(program, session).run(*frame);
  } catch (const std::bad_alloc&) {
    return host.fail(call, NATIF_MEMORY_ERROR, -1, "natif: no memory for the evaluator");
  }
}

}  // namespace natif::eval
