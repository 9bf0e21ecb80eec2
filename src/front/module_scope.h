// src/front/module_scope.h: what the names of a source file mean at module level, found without running it: import aliases, markers and
// their aliases, literals, annotated names (hidden inputs) and functions. A name that is bound in ways that disagree means nothing certain.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "front/syntax.h"
#include "ops/call.h"

namespace natif::front {

/// What a module-level name is bound to.
struct Binding {
  enum class Kind {
    Import,     // path: "tensorflow.math", "natif.types.Tensor"; a module or a name from one
    Literal,    // literal, and annotation where there is one
    Alias,      // value: an assignment that may name a type or an import
    Annotated,  // annotation, and value where there is one that is no literal
    Function,   // value: its def
    Other,      // anything else; several bindings that disagree
  };
  Kind kind = Kind::Other;
  std::string path = {};
  std::optional<ops::Literal> literal = {};
  Syntax value = {}, annotation = {};
};

class ModuleScope {
 public:
  explicit ModuleScope(const Syntax& module);

  /// Null for a name that the file does not bind at module level.
  const Binding* find(const std::string& name) const;
  /// Whether `from somewhere import *` may bind names that this file does not show.
  bool has_unknown_names() const { return unknown_star_; }

  /// The full path of an imported thing: {"tm", "add"} is "tensorflow.math.add" after `import tensorflow.math as tm`. "" for anything else.
  std::string imported(const std::vector<std::string>& path) const;
  /// The same for an expression that is a chain of attributes, through module-level aliases.
  std::string imported(const Syntax& expression) const;

 private:
  void scan(const Syntax& statement);
  void scan_others(const Syntax& node);
  void import_star(const std::string& module);
  void bind(const std::string& name, Binding binding);

  std::map<std::string, Binding> bindings_;
  int handlers_ = 0;  // except clauses around the statement that is scanned
  bool unknown_star_ = false;
};

/// What an import statement binds: local name → full path, and whether it is `import *` (of `star`).
struct Imports {
  std::map<std::string, std::string> names;
  std::string star;
};
Imports read_imports(const Syntax& statement);

/// "tf.nn.relu" for "tensorflow.nn.relu"; "" for what is not TensorFlow's.
std::string tensorflow_spelling(const std::string& path);

}  // namespace natif::front
