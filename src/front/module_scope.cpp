// src/front/module_scope.cpp: one walk over the module's statements, into branches and blocks too, since what they bind is bound.
#include "front/module_scope.h"

#include <nanobind/stl/string.h>

#include <algorithm>

#include "front/annotations.h"
#include "front/literals.h"

namespace natif::front {

namespace {

std::string first_part(const std::string& path) { return path.substr(0, path.find('.')); }

/// Whether two bindings mean the same to a reader: a number that is assigned again is still a number of its type, and is read at each call.
bool agree(const Binding& a, const Binding& b) {
  if (a.kind != b.kind) return false;
  if (a.kind == Binding::Kind::Import) return a.path == b.path;
  return a.kind == Binding::Kind::Literal &&
         (a.literal == b.literal || (number_type(*a.literal) && number_type(*a.literal) == number_type(*b.literal)));
}

}  // namespace

Imports read_imports(const Syntax& statement) {
  Imports imports;
  const bool from = statement.is("ImportFrom");
  const std::string module = from ? statement.text("module") : std::string();
  for (const Syntax& alias : statement.children("names")) {
    const std::string name = alias.text("name"), as = alias.text("asname");
    if (from && name == "*") {
      imports.star = module;
    } else if (from) {
      imports.names[as.empty() ? name : as] = module + "." + name;
    } else {
      imports.names[as.empty() ? first_part(name) : as] = as.empty() ? first_part(name) : name;
    }
  }
  return imports;
}

std::string tensorflow_spelling(const std::string& path) {
  constexpr std::string_view roots[] = {"tensorflow.compat.v2", "tensorflow"};
  for (std::string_view root : roots)
    if (path.starts_with(root) && path.size() > root.size() && path[root.size()] == '.') return "tf" + path.substr(root.size());
  return {};
}

ModuleScope::ModuleScope(const Syntax& module) {
  for (const Syntax& statement : module.children("body")) scan(statement);
}

const Binding* ModuleScope::find(const std::string& name) const {
  const auto found = bindings_.find(name);
  return found == bindings_.end() ? nullptr : &found->second;
}

std::string ModuleScope::imported(const std::vector<std::string>& path) const {
  const Binding* binding = path.empty() ? nullptr : find(path[0]);
  if (!binding) return {};
  std::string full = binding->path;
  if (binding->kind == Binding::Kind::Alias) {
    // Followed to an import only, so that two names that stand for each other end here.
    const std::vector<std::string> target = dotted_path(binding->value);
    const Binding* root = target.empty() ? nullptr : find(target[0]);
    if (!root || root->kind != Binding::Kind::Import) return {};
    full = imported(target);
  } else if (binding->kind != Binding::Kind::Import) {
    return {};
  }
  for (size_t i = 1; i < path.size(); ++i) full += "." + path[i];
  return full;
}

std::string ModuleScope::imported(const Syntax& expression) const { return imported(dotted_path(expression)); }

void ModuleScope::bind(const std::string& name, Binding binding) {
  const auto [at, inserted] = bindings_.try_emplace(name, binding);
  if (inserted || agree(at->second, binding)) return;
  // What an except clause puts in place of a failed import is not what runs where natif runs.
  if (handlers_ > 0 && at->second.kind == Binding::Kind::Import) return;
  // An annotation says what the name holds, whatever is assigned to it elsewhere.
  if (at->second.annotation) return;
  at->second = binding.annotation ? std::move(binding) : Binding{};
}

void ModuleScope::import_star(const std::string& module) {
  if (is_marker_module(module)) {
    for (const std::string& name : marker_names()) bind(name, {.kind = Binding::Kind::Import, .path = module + "." + name});
  } else {
    unknown_star_ = true;
  }
}

void ModuleScope::scan(const Syntax& statement) {
  if (statement.is("Import") || statement.is("ImportFrom")) {
    const Imports imports = read_imports(statement);
    for (const auto& [name, path] : imports.names) bind(name, {.kind = Binding::Kind::Import, .path = path});
    if (!imports.star.empty()) import_star(imports.star);
  } else if (statement.is("FunctionDef")) {
    bind(statement.text("name"), {.kind = Binding::Kind::Function, .value = statement});
  } else if (statement.is("AsyncFunctionDef") || statement.is("ClassDef")) {
    bind(statement.text("name"), {});
  } else if (statement.is("AnnAssign") && statement.child("target").is("Name")) {
    const Syntax value = statement.child("value");
    const std::optional<ops::Literal> literal = value ? read_literal(value) : std::nullopt;
    bind(statement.child("target").text("id"), {.kind = literal ? Binding::Kind::Literal : Binding::Kind::Annotated,
                                                .literal = literal,
                                                .value = value,
                                                .annotation = statement.child("annotation")});
  } else if (statement.is("Assign") &&
             std::ranges::all_of(statement.children("targets"), [](const Syntax& target) { return target.is("Name"); })) {
    const std::optional<ops::Literal> literal = read_literal(statement.child("value"));
    for (const Syntax& target : statement.children("targets"))
      bind(target.text("id"),
           {.kind = literal ? Binding::Kind::Literal : Binding::Kind::Alias, .literal = literal, .value = statement.child("value")});
    scan_others(statement.child("value"));
  } else {
    scan_others(statement);
  }
}

void ModuleScope::scan_others(const Syntax& node) {
  if (node.has_own_names()) return;
  if (node.is("Name") && !node.child("ctx").is("Load")) bind(node.text("id"), {});
  const bool handler = node.is("ExceptHandler");
  handlers_ += handler;
  for (const Syntax& child : children_of(node)) child.is_statement() ? scan(child) : scan_others(child);
  handlers_ -= handler;
}

}  // namespace natif::front
