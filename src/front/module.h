// src/front/module.h: claiming. A source file, as the tree that ast.parse made of it, becomes a verdict on every site of every function in
// it, and the typed graph of each function that is native throughout. Nothing is imported or run, and the same source gives the same
// answer.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "front/syntax.h"
#include "ir/graph.h"
#include "ops/call.h"

namespace natif::front {

/// A module-level name whose value was compiled in: an axis read from `AXIS = 1`, or a native function that was inlined. The host checks at
/// each call that the module still holds it, and runs the Python body where it does not.
struct Guard {
  std::string name;
  std::optional<ops::Literal> value;  // nullopt: `name` is a function of the module

  bool operator==(const Guard&) const = default;
};

struct ClaimedFunction {
  std::string name;        // __qualname__: "score", "Model.score", "make.<locals>.inner"
  base::Span span;         // of the def
  int first_line = 0;      // co_firstlineno: that of the first decorator
  bool decorated = false;  // by natif.native
  bool marked = false;     // has a tensor marker among its annotations
  bool native = false;     // every site is Claimed; only then `graph` means something
  ir::Function graph;
  std::vector<base::Site> sites;  // in the order of their places; Node::site is an index
  std::vector<Guard> guards;      // in the order of their names
};

struct Module {
  std::string name, file;                  // __name__ and the source file
  std::vector<ClaimedFunction> functions;  // every def of the file, in the order of the source
};

/// The sizes of tensor parameters, by name.
using Sizes = std::map<std::string, std::vector<int64_t>>;

/// Sizes that one function's calls will always have: they take the place of those that its annotations leave free.
struct Specialization {
  std::string function;  // as ClaimedFunction has it
  int first_line = 0;
  Sizes sizes;
};

/// `tree` is an ast.Module. base::UserError where a size contradicts the annotation of its parameter.
Module claim(const Syntax& tree, std::string module_name, std::string file, const Specialization& = {});

}  // namespace natif::front
