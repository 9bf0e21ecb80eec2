// src/ops/op_def.h: the definition of an op. One op is one file that fills one OpDef; everything else derives from it: claiming, lowering
// to both lanes, docs/ops.md, docs/diagnostics.md, the capability manifest, the per-op tests and the fuzzer. docs/adding-an-op.md walks
// through it.
//
// Examples, in diagnostics and in `examples`, are Python expressions over these names: x0 … x6, y0 … y6, w2, b1 are float32 tensors of that
// rank, i1 an int64 vector, n an int, s a float, flag a bool.
#pragma once

#include <array>
#include <concepts>
#include <span>
#include <string_view>

#include "ir/graph.h"
#include "ir/kernel_ir.h"
#include "ops/call.h"

namespace natif::ops {

/// A field that every op must fill: it has no default constructor.
template <class T>
struct Required {
  T value;

  // Implicit, so that designated initialisers read as the plain value.
  template <std::convertible_to<T> U>
  constexpr Required(const U& given) : value(given) {}  // NOLINT(google-explicit-constructor)
  constexpr operator const T&() const { return value; }
  constexpr const T* operator->() const { return &value; }
};

/// A short list that lives in read-only data.
template <class T, size_t Capacity>
struct List {
  std::array<T, Capacity> items{};
  size_t count = 0;

  constexpr List() = default;
  template <class... U>
    requires(sizeof...(U) <= Capacity)
  constexpr List(const U&... values)  // NOLINT(google-explicit-constructor)
      : items{T{values}...}, count(sizeof...(U)) {}
  constexpr auto begin() const { return items.begin(); }
  constexpr auto end() const { return items.begin() + count; }
  constexpr size_t size() const { return count; }
  constexpr bool empty() const { return count == 0; }
  constexpr const T& operator[](size_t i) const { return items[i]; }
};

using Names = List<std::string_view, 8>;

/// How a parameter of the Python call is read.
enum class ParameterKind : uint8_t {
  Operand,    // a value of the program: a tensor, or a number that becomes one
  Attribute,  // a literal of the source
  Name,       // any string literal or None; changes nothing
};

struct Parameter {
  std::string_view name;
  ParameterKind kind = ParameterKind::Operand;
  bool required = true;
  Names other_names = {};  // the same parameter under another spelling's keyword
};

using Parameters = List<Parameter, 12>;

constexpr Parameter operand(std::string_view name, Names other_names = {}) { return {name, ParameterKind::Operand, true, other_names}; }
constexpr Parameter attribute(std::string_view name, bool required = false) { return {name, ParameterKind::Attribute, required, {}}; }
constexpr Parameter name_parameter{"name", ParameterKind::Name, false, {}};

/// Python operators and built-in functions that mean an op when an operand is a tensor.
enum class Operator : uint8_t { None, Add, Subtract, Multiply, Divide, MatMul, Negate, Absolute };

/// How the op runs through TensorFlow: the graph node is this op. Attributes of the node named in `constants` become int32 tensor operands
/// after the others, in that order; those named in `attributes` are set on the op.
struct Tfe {
  std::string_view op;
  Names attributes = {};
  Names constants = {};
};

/// Which loop an op's kernel is. Passes ask this, never the op's name.
enum class LoopShape : uint8_t {
  None,          // no kernel: the op runs through TensorFlow
  Pointwise,     // each element from the elements at its place, with broadcasting
  Contraction,   // [rows,K]·[K,N], operands and attributes of MatMul, or of BatchMatMulV2 with one right matrix
  Softmax,       // along the last axis
  Reduction,     // along attribute "axis", attribute "keep_dims"
  ArgReduction,  // index of the largest along attribute "axis", attribute "output_type"
  Transpose,     // by attribute "perm"
};

enum class Reduction : uint8_t { None, Sum, Mean, Max, Min, Prod };

/// How the operands of a pointwise op meet.
enum class Broadcasting : uint8_t {
  NumPy,     // NumPy's rules
  LastAxis,  // operand 1 is a vector with one element for each place on operand 0's last axis; any other length is eager's error
};

using ElementRule = ir::Term (*)(ir::Expression&, std::span<const ir::Term> operands);

/// How the op runs in natif's own kernels.
struct Native {
  LoopShape shape = LoopShape::None;
  ElementRule element = nullptr;                     // of Pointwise
  Reduction reduction = Reduction::None;             // of Reduction
  Broadcasting broadcasting = Broadcasting::NumPy;   // of Pointwise
  bool (*applies)(const ir::Attributes&) = nullptr;  // whether the kernel is for a node with these attributes; null: for all
};

constexpr Native pointwise(ElementRule element) { return {.shape = LoopShape::Pointwise, .element = element}; }
constexpr Native kernel(LoopShape shape) { return {.shape = shape}; }
constexpr Native reduction(Reduction kind) { return {.shape = LoopShape::Reduction, .reduction = kind}; }

/// Where the native kernel gives eager's bits.
struct Exactness {
  std::string_view rule = {};    // the self-check that must hold on a machine; empty where IEEE 754 alone decides the bits
  std::string_view domain = {};  // for a reader: sizes and machines for which the rule was proven
  Names variants = {};           // "rule@class": the rules of other machine classes, in the order in which kernels take them; one is enough
};

/// Appends the nodes of an accepted call and returns its value. For calls that are more than one node, such as a softmax off the last axis.
class NodeBuilder;
using BuildRule = ir::Value (*)(NodeBuilder&, const Call&, const Verdict&, std::span<const ir::Value> operands);

/// A rule of the system that natif re-creates (rextio-tensorflow 0.1.3) which this op covers.
struct SeedRule {
  std::string_view id, code;
};

struct OpDef {
  Required<std::string_view> summary;  // one line for docs/ops.md, ends with a full stop
  Required<Names> spellings;           // "tf.nn.relu", …; "tensorflow.…" and every import alias of them come by themselves; none for a
                                       // node that only another op's build rule makes
  Names more_spellings = {};           // where there are more than eight
  Operator op = Operator::None;
  Required<Parameters> parameters;
  Required<Verdict (*)(const Call&)> type_rule;
  BuildRule build = nullptr;  // null: one node, the operands in order
  Required<Tfe> tfe;
  Native native = {};
  Exactness exact = {};
  Required<std::string_view> numpy;  // a NumPy expression over x0, x1, … (the operands) and attributes by name; np is in scope
  Required<Names> examples;          // calls that are Claimed
  Names more_examples = {};
  List<const base::Diagnostic*, 8> diagnostics = {};
  List<SeedRule, 8> seed_rules = {};
};

/// What a BuildRule may do.
class NodeBuilder {
 public:
  virtual ~NodeBuilder() = default;
  /// Appends the node of a TensorFlow op with one result.
  virtual ir::Value op(std::string_view op, std::span<const ir::Value> operands, ir::Type result, ir::Attributes attributes = {}) = 0;
  virtual const ir::Type& type(ir::Value) const = 0;
};

}  // namespace natif::ops
