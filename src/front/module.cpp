// src/front/module.cpp: finds every def of a file and claims each, a called one before its caller.
#include "front/module.h"

#include <algorithm>
#include <map>
#include <memory>

#include "base/error.h"
#include "front/function_reader.h"

namespace natif::front {

namespace {

class Claimer {
 public:
  Claimer(const Syntax& tree, const Specialization& specialization) : scope_(tree), specialization_(specialization) {
    collect(tree.children("body"), "", {});
  }

  std::vector<ClaimedFunction> claim_all() {
    std::vector<ClaimedFunction> functions;
    for (size_t i = 0; i < definitions_.size(); ++i) functions.push_back(claim(i));
    return functions;
  }

 private:
  void collect(const std::vector<Syntax>& nodes, const std::string& prefix, const Names& enclosing) {
    for (const Syntax& node : nodes) {
      if (node.is("FunctionDef") || node.is("AsyncFunctionDef")) {
        const std::string name = prefix + node.text("name");
        indices_[node.identity()] = definitions_.size();
        definitions_.push_back({node, name, enclosing});
        Names inner = enclosing;
        inner.merge(names_bound_in(node));
        collect(node.children("body"), name + ".<locals>.", inner);
      } else if (node.is("ClassDef")) {
        // Methods do not see the names of their class.
        collect(node.children("body"), prefix + node.text("name") + ".", enclosing);
      } else if (!node.has_own_names()) {
        collect(children_of(node), prefix, enclosing);
      }
    }
  }

  /// The parameters and local names of a def.
  static Names names_bound_in(const Syntax& def) {
    Names names = names_assigned(def.children("body"));
    walk(def.child("args"), [&](const Syntax& node) {
      if (node.is("arg")) names.insert(node.text("arg"));
    });
    return names;
  }

  bool decorated(const Syntax& def) const {
    return std::ranges::any_of(def.children("decorator_list"), [&](const Syntax& decorator) {
      return scope_.imported(decorator.is("Call") ? decorator.child("func") : decorator) == "natif.native";
    });
  }

  static int first_line_of(const Syntax& def) {
    int line = def.span().line;
    for (const Syntax& decorator : def.children("decorator_list")) line = std::min(line, decorator.span().line);
    return line;
  }

  const ClaimedFunction& claim(size_t index) {
    const auto known = claims_.find(index);
    if (known != claims_.end()) return *known->second;
    const Definition& definition = definitions_[index];
    in_progress_.push_back(index);
    const int first_line = first_line_of(definition.syntax);
    FunctionReader reader(definition, scope_, [this](const Syntax& def) { return callee(def); });
    if (definition.name == specialization_.function && first_line == specialization_.first_line) reader.specialize(specialization_.sizes);
    auto claimed = std::make_unique<ClaimedFunction>(reader.read());
    in_progress_.pop_back();
    claimed->decorated = decorated(definition.syntax);
    claimed->first_line = first_line;
    return *claims_.emplace(index, std::move(claimed)).first->second;
  }

  CalleeFacts callee(const Syntax& def) {
    const size_t index = indices_.at(def.identity());
    if (std::ranges::count(in_progress_, index)) return {true, nullptr};
    const bool only_native = def.children("decorator_list").size() == (decorated(def) ? 1U : 0U);
    const ClaimedFunction& claimed = claim(index);
    return {only_native && (claimed.decorated || claimed.marked), &claimed};
  }

  ModuleScope scope_;
  const Specialization& specialization_;
  std::vector<Definition> definitions_;
  std::map<const void*, size_t> indices_;
  std::map<size_t, std::unique_ptr<ClaimedFunction>> claims_;
  std::vector<size_t> in_progress_;
};

}  // namespace

Module claim(const Syntax& tree, std::string module_name, std::string file, const Specialization& specialization) {
  base::require(tree.is("Module"), "claiming something that is no ast.Module");
  return {std::move(module_name), std::move(file), Claimer(tree, specialization).claim_all()};
}

}  // namespace natif::front
