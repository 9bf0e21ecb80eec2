// src/front/statements.cpp: statements other than branches and loops, and what a return gives.
#include <algorithm>

#include "front/diagnostics.h"
#include "front/function_reader.h"

namespace natif::front {

using ir::Type;
using ir::Value;

namespace {

constexpr const char* return_name = "<return>";
constexpr int max_depth = 400;

/// What a kind of statement is to its author.
std::string_view words_for(std::string_view kind) {
  struct Word {
    std::string_view kind, words;
  };
  constexpr Word words[] = {{"Assert", "assert"},      {"Raise", "raise"},     {"Try", "try"},
                            {"TryStar", "try"},        {"With", "with"},       {"AsyncWith", "async with"},
                            {"AsyncFor", "async for"}, {"Global", "global"},   {"Nonlocal", "nonlocal"},
                            {"Match", "match"},        {"FunctionDef", "def"}, {"AsyncFunctionDef", "async def"},
                            {"ClassDef", "class"},     {"Delete", "del"},      {"Import", "import"},
                            {"ImportFrom", "import"}};
  const auto* found = std::ranges::find(words, kind, &Word::kind);
  return found == std::end(words) ? kind : found->words;
}

/// Sizes are named only where there are any, since they may be all that differs.
std::string describe_sized(const Type& type) {
  const bool sized = std::ranges::any_of(type.dims, [](int64_t size) { return size != ir::free_size; });
  return ir::describe(type) + (sized ? " (" + ir::to_text(type) + ")" : "");
}

std::string describe(const ResultAnnotation& result) {
  std::string text;
  for (const Type& type : result.types) text += (text.empty() ? "" : ", ") + describe_sized(type);
  return result.tuple ? "a tuple of " + text : text;
}

}  // namespace

bool FunctionReader::block(const std::vector<Syntax>& statements) {
  for (const Syntax& each : statements)
    if (!statement(each)) return false;  // what follows is never run
  return true;
}

bool FunctionReader::statement(const Syntax& node) {
  if (depth_ >= max_depth) {
    report(node, diagnostics::nesting, "statement", "the statement");
    return true;
  }
  ++depth_;
  const GraphBuilder::At at(builder_, node.span());
  bool falls = true;
  if (node.is("Return")) {
    return_statement(node);
    falls = false;
  } else if (node.is("If")) {
    falls = if_statement(node);
  } else if (node.is("While")) {
    falls = while_statement(node);
  } else if (node.is("For")) {
    falls = for_statement(node);
  } else if (node.is("Break") || node.is("Continue")) {
    falls = break_or_continue(node.is("Break") ? ir::NodeKind::Break : ir::NodeKind::Continue);
  } else if (node.is("Assign")) {
    const Item item = expression(node.child("value"));
    for (const Syntax& target : node.children("targets")) assign(target, item);
  } else if (node.is("AnnAssign")) {
    if (node.child("value")) assign(node.child("target"), expression(node.child("value")));
  } else if (node.is("AugAssign")) {
    augmented_assignment(node);
  } else if (node.is("Delete")) {
    delete_names(node);
  } else if (node.is("Import") || node.is("ImportFrom")) {
    import_inside(node);
  } else if (node.is("Expr")) {
    // A docstring or another constant does nothing.
    if (!node.child("value").is("Constant")) expression(node.child("value"));
  } else if (!node.is("Pass")) {
    refuse_statement(node);
    falls = !node.is("Raise");
  }
  --depth_;
  return falls;
}

void FunctionReader::assign(const Syntax& target, const Item& item) {
  if (target.is("Name")) {
    const std::string id = target.text("id");
    if (item.is_value() && builder_.function.values[item.value].name.empty()) builder_.function.values[item.value].name = id;
    environment_[id] = item;
  } else if (target.is("Tuple") || target.is("List")) {
    unpack(target, item);
  } else {
    const bool attribute = target.is("Attribute");
    const std::string stored = attribute ? "." + target.text("attr") : target.is("Subscript") ? "[…]" : "*";
    report(target, diagnostics::statement, attribute ? stored : "=", "`" + stored + " = …`");
  }
}

void FunctionReader::unpack(const Syntax& target, const Item& item) {
  const std::vector<Syntax> names = target.children("elts");
  std::vector<Item> elements(names.size());
  if (item.kind == Item::Kind::Shape && builder_.type(item.value).rank() == static_cast<int>(names.size())) {
    for (size_t i = 0; i < names.size(); ++i) elements[i] = Item::of(builder_.dimension(item.value, static_cast<int>(i)));
  } else if (item.kind == Item::Kind::Sequence && item.elements.size() == names.size()) {
    elements = item.elements;
  } else if (!item.failed()) {
    report(target, diagnostics::unpacking, "=", describe(item, builder_.function) + " into " + std::to_string(names.size()) + " names");
  }
  for (size_t i = 0; i < names.size(); ++i) assign(names[i], elements[i]);
}

void FunctionReader::augmented_assignment(const Syntax& node) {
  const Syntax target = node.child("target");
  const Item right = expression(node.child("value"));
  if (!target.is("Name")) return assign(target, right);
  // A tensor or number is never changed in place: `x += y` binds a new value, as it does in Python.
  const Item left = name(target);
  assign(target, apply_operator(node, node.child("op"), left, right));
}

void FunctionReader::delete_names(const Syntax& node) {
  for (const Syntax& target : node.children("targets")) {
    if (!target.is("Name")) {
      refuse_statement(node);
    } else {
      name(target);  // reports a name that is not bound
      environment_.erase(target.text("id"));
    }
  }
}

void FunctionReader::import_inside(const Syntax& node) {
  const Imports imports = read_imports(node);
  const bool tensorflow = imports.star.empty() && std::ranges::all_of(imports.names, [](const auto& entry) {
                            return entry.second == "tensorflow" || !tensorflow_spelling(entry.second).empty();
                          });
  if (!tensorflow) return refuse_statement(node);
  for (const auto& [name, path] : imports.names) local_imports_[name] = path;
}

void FunctionReader::refuse_statement(const Syntax& node) {
  const std::string words(words_for(node.kind()));
  report(node, diagnostics::statement, words, words);
  for (const std::string& name : names_assigned(node)) environment_[name] = Item{};
  if (node.is("FunctionDef") || node.is("AsyncFunctionDef") || node.is("ClassDef")) return;
  read_inside(node);
  for (const std::string& name : names_assigned(node)) environment_[name] = Item{};
  opaque_ = true;
}

void FunctionReader::read_inside(const Syntax& node) {
  if (node.has_own_names()) return;
  for (const Syntax& child : children_of(node)) {
    if (child.is("Call")) {
      expression(child);
    } else if (child.is_statement()) {
      statement(child);
    } else {
      read_inside(child);
    }
  }
}

void FunctionReader::return_statement(const Syntax& node) {
  const Item item = node.child("value") ? expression(node.child("value")) : Item::of(ops::Literal(ops::None{}));
  std::vector<Value> values;
  if (!item.failed()) check_results(node, item, values);
  emit_return(std::move(values));
}

bool FunctionReader::check_results(const Syntax& node, const Item& item, std::vector<Value>& values) {
  const bool tuple = item.kind == Item::Kind::Sequence && !item.list;
  const std::vector<Item> parts = tuple ? item.elements : std::vector<Item>{item};
  ResultAnnotation found{{}, tuple};
  for (const Item& part : parts) {
    if (!part.is_value()) {
      report(node, diagnostics::result_value, "return", describe(item, builder_.function));
      return false;
    }
    values.push_back(part.value);
    found.types.push_back(builder_.type(part.value));
  }
  if (found.types.empty()) {
    report(node, diagnostics::result_value, "return", "an empty tuple");
    return false;
  }
  if (!agrees(node, found)) return false;
  if (!results_) {
    results_ = found;
  } else {
    for (size_t i = 0; i < found.types.size(); ++i) results_->types[i] = ir::join(results_->types[i], found.types[i]);
  }
  return true;
}

bool FunctionReader::agrees(const Syntax& node, const ResultAnnotation& found) {
  const bool annotated = annotated_.has_value();
  const std::optional<ResultAnnotation>& expected = annotated ? annotated_ : results_;
  if (!expected) return true;
  bool same = expected->tuple == found.tuple && expected->types.size() == found.types.size();
  for (size_t i = 0; same && i < found.types.size(); ++i)
    same = annotated ? ir::fits(found.types[i], expected->types[i], true) : ir::joinable(found.types[i], expected->types[i]);
  if (same) return true;
  const char* where = annotated ? " where the annotation says " : " where another return gives ";
  report(node, annotated ? diagnostics::result_type : diagnostics::results_differ, "return", describe(found) + where + describe(*expected));
  return false;
}

void FunctionReader::emit_return(std::vector<Value> values) {
  if (loops_.empty() || !loops_.back()->endless) return builder_.terminate(ir::NodeKind::Return, std::move(values));
  std::vector<Item> items;
  for (Value value : values) items.push_back(Item::of(value));
  environment_[return_name] = Item::sequence(std::move(items), false);
  break_or_continue(ir::NodeKind::Break);
}

}  // namespace natif::front
