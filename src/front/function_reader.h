// src/front/function_reader.h: reads one def: its signature, then its statements in order, appending to the graph and noting a site for
// every verdict. Reading goes on after a refusal, so that all sites of a function are reported. The member functions are in the files that
// their sections name. Private to this folder: module.h is what others use.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "front/annotations.h"
#include "front/graph_builder.h"
#include "front/item.h"
#include "front/liveness.h"
#include "front/module.h"
#include "front/module_scope.h"
#include "ops/op_def.h"

namespace natif::front {

/// A def of the file and where it stands.
struct Definition {
  Syntax syntax;
  std::string name;  // __qualname__
  Names enclosing;   // names that enclosing functions bind
};

/// What a caller needs to know of a function of the module.
struct CalleeFacts {
  bool native = false;                     // decorated by natif.native alone, or annotated with markers
  const ClaimedFunction* claim = nullptr;  // null while that function is itself being claimed: the call is recursive
};
using Callee = std::function<CalleeFacts(const Syntax& def)>;

class FunctionReader {
 public:
  FunctionReader(const Definition&, const ModuleScope&, Callee callee);

  /// Sizes to take in the place of those that annotations leave free.
  void specialize(Sizes sizes) { sizes_ = std::move(sizes); }

  ClaimedFunction read();

 private:
  struct Operand {
    Item item;
    ops::Argument argument;
  };
  using Operands = std::vector<std::optional<Operand>>;
  struct Loop;
  struct Mark;

  // signature.cpp
  void read_signature();
  void read_parameter(const Syntax& parameter, const Syntax& default_value);
  void share_sizes();
  void fix_sizes(const std::string& parameter, ir::Type& type) const;
  void read_default(const Syntax& parameter, const Syntax& default_value, const ir::Type& type);
  void finish(ClaimedFunction&, bool falls);

  // statements.cpp: each answers whether control goes on to the next statement
  bool block(const std::vector<Syntax>& statements);
  bool statement(const Syntax&);
  void assign(const Syntax& target, const Item& item);
  void unpack(const Syntax& target, const Item& item);
  void augmented_assignment(const Syntax&);
  void delete_names(const Syntax&);
  void import_inside(const Syntax&);
  void refuse_statement(const Syntax&);
  void read_inside(const Syntax&);
  void return_statement(const Syntax&);
  bool check_results(const Syntax&, const Item& item, std::vector<ir::Value>& values);
  bool agrees(const Syntax&, const ResultAnnotation& found);
  void emit_return(std::vector<ir::Value> values);

  // branches.cpp
  bool if_statement(const Syntax&);
  bool branch(ir::Value condition, const std::function<bool()>& then, const std::function<bool()>& otherwise, const Names& live);
  Item choose(const Syntax& at, ir::Value condition, const std::function<Item()>& then, const std::function<Item()>& otherwise,
              std::string_view what);
  struct Merge;
  Item merge(const std::string& name, const std::vector<const Item*>& items, Merge&);
  Environment merge(const std::vector<Environment>& exits, const Names& live, Merge&);

  // loops.cpp
  bool while_statement(const Syntax&);
  void read_iteration(const Syntax&, Loop&, ir::Region&, const Names& assigned, bool forever);
  bool for_statement(const Syntax&);
  bool refused_for(const Syntax&);
  bool endless_exit(const Syntax&);
  std::string completion_flag(const Syntax& loop) const;
  bool else_clause(const Syntax& loop, const std::string& completed);
  void start_carrying(Loop&, const Names& assigned, const Names& live);
  void enter(Loop&, ir::Region&);
  bool leave_iteration(Loop&, ir::NodeKind);
  bool leave_loop(Loop&);
  std::vector<ir::Value> carried_values(Loop&);
  bool break_or_continue(ir::NodeKind);
  std::optional<std::vector<ir::Value>> range_operands(const Syntax& loop, bool& surely_runs);
  Mark mark() const;
  void rewind(const Mark&);

  // expressions.cpp
  Item expression(const Syntax&);
  Item constant(const Syntax&);
  Item name(const Syntax&);
  Item module_name(const Syntax&, const std::string& id);
  Item hidden_input(const std::string& id, const ir::Type& type);
  Item unary(const Syntax&);
  Item binary(const Syntax&);
  Item boolean(const Syntax&);
  Item comparison(const Syntax&);
  Item compare_from(const Syntax&, size_t index, const Item& left);
  Item conditional(const Syntax&);
  Item attribute(const Syntax&);
  Item subscript(const Syntax&);
  Item sequence(const Syntax&);
  Item walrus(const Syntax&);
  Item refuse_expression(const Syntax&, std::string_view what);
  std::optional<ir::Value> condition(const Syntax&);
  std::optional<ir::Value> truth(const Item&, const Syntax& at);
  std::optional<ops::Literal> known_literal(const Item&) const;
  std::optional<ops::Literal> known_literal(const Syntax&);
  std::optional<ops::Literal> module_literal(const std::string& id);

  // numbers.cpp
  Item apply_operator(const Syntax& at, const Syntax& op, const Item& left, const Item& right);
  Item apply_operator(const Syntax& at, std::string_view symbol, ops::Operator op, const Item& left, const Item& right);
  Item apply_numbers(const Syntax& at, std::string_view symbol, ir::Value left, ir::Value right);
  Item power(ir::Value left, ir::Value right);
  Item compare(const Syntax& at, std::string_view symbol, const Item& left, const Item& right);
  Item refuse_operands(const Syntax& at, std::string_view symbol, const Item& left, const Item* right);
  bool is_tensor(const Item& item) const { return item.is_value() && builder_.type(item.value).is_tensor(); }
  bool is_number(const Item& item) const { return item.is_value() && builder_.type(item.value).is_number(); }

  // calls.cpp
  Item call(const Syntax&);
  Item op_call(const Syntax&, const std::string& spelling, const ops::OpDef&);
  std::optional<Operands> bind_operands(const Syntax&, const std::string& spelling, const ops::OpDef&);
  std::optional<Operands> read_operands(const Syntax&, const ops::OpDef&, const std::vector<Syntax>& given);
  Operand read_operand(const Syntax&, const ops::Parameter&);
  Operand operand_of(const Item&, base::Span) const;
  Item apply_op(const Syntax& at, const std::string& target, const ops::OpDef&, const Operands&);
  Item refuse_call(const Syntax&, const base::Diagnostic&, const std::string& target, std::string detail);
  void read_refused_argument(const Syntax&);

  // native_calls.cpp
  Item native_call(const Syntax&, const std::string& target, const Syntax& def);
  std::optional<std::vector<ir::Value>> bind_native(const Syntax&, const std::string& target, const Syntax& def, const ClaimedFunction&);
  std::string give_defaults(const std::string& target, const Syntax& signature, const std::vector<std::string>& names,
                            std::vector<std::optional<Item>>& items);
  std::optional<ir::Value> convert_argument(const Syntax& at, const std::string& target, const std::string& name, const ir::Type&,
                                            const Item&);
  Item inline_graph(const ClaimedFunction&, const std::vector<ir::Value>& arguments);

  // builtins.cpp
  Item builtin_call(const Syntax&, const std::string& name);
  Item builtin(const Syntax&, const std::string& name, const std::vector<Item>& arguments);
  Item refuse_builtin(const Syntax&, const std::string& name, const std::vector<Item>& arguments);
  Item length(const Syntax&, const Item&);
  Item convert(const Syntax&, const std::string& name, const Item&);
  Item absolute(const Syntax&, const Item&);
  Item extreme(const Syntax&, const std::string& name, const std::vector<Item>&);

  // sites
  int claim_site(const Syntax& at, std::string target, std::string rule);
  Item report(const Syntax& at, const base::Diagnostic&, std::string target, const std::string& detail);
  Item report(base::Span, const base::Diagnostic&, std::string target, const std::string& detail);
  std::string imported(const Syntax& expression) const;
  bool is_local(const std::string& name) const { return locals_.contains(name); }
  bool is_builtin(const std::string& name) const;
  void sort_sites();

  const Definition& definition_;
  const ModuleScope& scope_;
  Callee callee_;
  Sizes sizes_;
  Liveness liveness_;
  Names locals_;
  std::map<std::string, std::string> local_imports_;
  GraphBuilder builder_;
  Environment environment_;
  std::vector<base::Site> sites_;
  struct NamedAxis {
    size_t parameter, axis;
  };
  std::map<std::string, std::vector<NamedAxis>> named_sizes_;  // of the parameters' annotations
  std::map<std::string, ir::Value> hidden_;
  std::map<std::string, Guard> guards_;
  std::optional<ResultAnnotation> annotated_;  // absent: the first return decides
  std::optional<ResultAnnotation> results_;    // the joined types of the returns so far
  std::vector<Loop*> loops_;
  bool marked_ = false;
  bool opaque_ = false;  // a statement was refused, so where control goes is not known
  int depth_ = 0;
};

/// The types and the span of the values that several ways bring together.
struct FunctionReader::Merge {
  size_t outer_values = 0;                     // values before the ways parted: they may be used after them too
  std::vector<std::vector<ir::Value>> yields;  // of each way
  std::vector<ir::Value> results;
};

/// What a loop must take back when it is read again with freer types.
struct FunctionReader::Mark {
  size_t values, sites;
  std::optional<ResultAnnotation> results;
  Environment environment;
};

/// A loop that is being read.
struct FunctionReader::Loop {
  bool counted = false;              // a `for`
  bool endless = false;              // `while True` without a break: a return in it becomes a break, with the results under `return_name`
  std::vector<std::string> carried;  // names with a region argument
  Environment head;                  // of carried: their items at the start of an iteration; of others: what reading them reports
  std::vector<ir::Type> types;       // of the carried values
  std::map<std::string, Item> refused;  // names that can't be carried, with what reading them reports
  std::vector<Environment> breaks;
  std::string completed;  // name of the flag that tells an `else` clause whether no break came; "" where none is needed
  bool changed = false;   // types or refused grew: read again
};

}  // namespace natif::front
