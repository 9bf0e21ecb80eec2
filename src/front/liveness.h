// src/front/liveness.h: which names may still be read after a statement. Branches and loops carry only those, so a name that is reused for
// something else does not constrain the types of what came before.
#pragma once

#include <map>
#include <set>
#include <string>

#include "front/syntax.h"

namespace natif::front {

using Names = std::set<std::string>;

class Liveness {
 public:
  /// Of a FunctionDef.
  explicit Liveness(const Syntax& function);

  /// The names that may be read after this If, While or For.
  const Names& after(const Syntax& statement) const { return at(after_, statement); }
  /// The names that may be read when the test of this While, or the next element of this For, is about to be taken.
  const Names& at_head(const Syntax& statement) const { return at(head_, statement); }
  /// The names that may be read once the test of this While held.
  const Names& after_test(const Syntax& statement) const { return at(after_test_, statement); }
  /// The names that may be read when this While or For ends, before an `else` clause.
  const Names& at_exit(const Syntax& statement) const { return at(exit_, statement); }

 private:
  struct Targets {
    Names at_break, at_continue;
  };
  static const Names& at(const std::map<const void*, Names>& table, const Syntax& statement);
  Names before(const std::vector<Syntax>& statements, Names live, const Targets&);
  Names before(const Syntax& statement, Names live, const Targets&);
  Names before_loop(const Syntax& loop, const Names& after, const Targets& outer);
  /// Of a statement that no native function has: what is in it still gets its sites, so all that it reads counts as live throughout.
  void visit_inside(const Syntax& statement, const Names& after, const Targets&);

  std::map<const void*, Names> after_, head_, after_test_, exit_;
};

/// The names that an expression or statement may read.
Names names_read(const Syntax&);
/// The names that a statement may bind or unbind, wherever in it.
Names names_assigned(const Syntax&);
Names names_assigned(const std::vector<Syntax>& statements);

/// Whether a loop's test is a literal that is always true.
bool always_true(const Syntax& test);

}  // namespace natif::front
