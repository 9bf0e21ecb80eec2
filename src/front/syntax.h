// src/front/syntax.h: a view of one of CPython's own `ast` objects. The grammar stays the interpreter's: nothing here parses. Field access
// follows the ast module's documentation; a field that a node lacks is an InternalError, since trees come from ast.parse.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"

namespace natif::front {

class Syntax {
 public:
  Syntax() = default;
  explicit Syntax(nanobind::object node) : node_(std::move(node)) {}

  /// Whether there is a node: optional fields that are None are absent.
  explicit operator bool() const { return node_.is_valid() && !node_.is_none(); }

  /// The class's name in the ast module: "BinOp".
  std::string_view kind() const;
  bool is(std::string_view name) const { return *this && kind() == name; }

  bool is_statement() const;
  /// Whether it is an expression with a scope of its own: a lambda or a comprehension.
  bool has_own_names() const;

  Syntax child(const char* field) const;
  std::vector<Syntax> children(const char* field) const;
  /// A field that is an identifier, such as `id` or `attr`; "" where it is None.
  std::string text(const char* field) const;
  /// The `value` of a Constant.
  nanobind::object constant() const { return field("value"); }

  base::Span span() const;
  /// What tells nodes of one tree apart.
  const void* identity() const { return node_.ptr(); }

 private:
  nanobind::object field(const char* name) const;

  nanobind::object node_;
};

/// Calls `visit` on `node` and on every node below it, outer before inner, in the order of the source.
template <class F>
void walk(const Syntax& node, const F& visit);

/// The nodes directly below a node, in the order of its `_fields`.
std::vector<Syntax> children_of(const Syntax& node);

template <class F>
void walk(const Syntax& node, const F& visit) {
  visit(node);
  for (const Syntax& child : children_of(node)) walk(child, visit);
}

/// "tf.nn.relu" as {"tf", "nn", "relu"}; empty for an expression that is no chain of attributes on a name.
std::vector<std::string> dotted_path(const Syntax& expression);

}  // namespace natif::front
