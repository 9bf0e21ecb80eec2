// src/front/expressions.cpp: names, attributes, conditions and the other expressions that are no calls.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "front/diagnostics.h"
#include "front/function_reader.h"
#include "front/literals.h"

namespace natif::front {

using ir::Type;
using ir::Value;

namespace {

constexpr int max_depth = 400;

/// The value of a constant of a module that is not TensorFlow's: `math.pi`, `np.inf`.
std::optional<double> known_constant(const std::string& path) {
  const size_t dot = path.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  const std::string module = path.substr(0, dot), name = path.substr(dot + 1);
  if (module != "math" && module != "numpy") return std::nullopt;
  if (name == "pi") return std::numbers::pi;
  if (name == "e") return std::numbers::e;
  if (name == "inf") return std::numeric_limits<double>::infinity();
  if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (name == "tau" && module == "math") return 2 * std::numbers::pi;
  return std::nullopt;
}

/// The dtype that "tensorflow.int32" names.
std::optional<ir::DType> known_dtype(const std::string& path) {
  const std::string spelling = tensorflow_spelling(path);
  for (ir::DType dtype : ir::all_dtypes)
    if (spelling == "tf." + std::string(ir::name(dtype)) || spelling == "tf.dtypes." + std::string(ir::name(dtype))) return dtype;
  return std::nullopt;
}

/// What a kind of node is to its author.
std::string_view words_for(std::string_view kind) {
  struct Word {
    std::string_view kind, words;
  };
  constexpr Word words[] = {{"Lambda", "lambda"},
                            {"Dict", "a dict"},
                            {"Set", "a set"},
                            {"ListComp", "a comprehension"},
                            {"SetComp", "a comprehension"},
                            {"DictComp", "a comprehension"},
                            {"GeneratorExp", "a generator"},
                            {"Await", "await"},
                            {"Yield", "yield"},
                            {"YieldFrom", "yield from"},
                            {"JoinedStr", "an f-string"},
                            {"Starred", "*"},
                            {"Slice", "a slice"},
                            {"Is", "is"},
                            {"IsNot", "is not"},
                            {"In", "in"},
                            {"NotIn", "not in"}};
  const auto* found = std::ranges::find(words, kind, &Word::kind);
  return found == std::end(words) ? kind : found->words;
}

}  // namespace

Item FunctionReader::expression(const Syntax& node) {
  using Reader = Item (FunctionReader::*)(const Syntax&);
  struct Row {
    std::string_view kind;
    Reader read;
  };
  constexpr Row rows[] = {
      {"Name", &FunctionReader::name},           {"Constant", &FunctionReader::constant}, {"Call", &FunctionReader::call},
      {"BinOp", &FunctionReader::binary},        {"UnaryOp", &FunctionReader::unary},     {"Compare", &FunctionReader::comparison},
      {"BoolOp", &FunctionReader::boolean},      {"IfExp", &FunctionReader::conditional}, {"Attribute", &FunctionReader::attribute},
      {"Subscript", &FunctionReader::subscript}, {"Tuple", &FunctionReader::sequence},    {"List", &FunctionReader::sequence},
      {"NamedExpr", &FunctionReader::walrus}};
  if (depth_ >= max_depth) return report(node, diagnostics::nesting, "expression", "the expression");
  ++depth_;
  const GraphBuilder::At at(builder_, node.span());
  const Row* row = std::ranges::find(rows, node.kind(), &Row::kind);
  Item item = row == std::end(rows) ? refuse_expression(node, words_for(node.kind())) : (this->*row->read)(node);
  --depth_;
  return item;
}

Item FunctionReader::refuse_expression(const Syntax& node, std::string_view what) {
  const Item item = report(node, diagnostics::expression, std::string(what), std::string(what));
  read_inside(node);
  return item;
}

Item FunctionReader::constant(const Syntax& node) {
  std::string size;
  if (is_large_int(node, size)) return report(node, diagnostics::large_int, "int", size);
  const std::optional<ops::Literal> literal = read_literal(node);
  if (!literal) return report(node, diagnostics::expression, "constant", "a constant that is neither a number, a string, None nor a bool");
  return number_type(*literal) ? Item::of(builder_.literal(*literal)) : Item::of(*literal);
}

Item FunctionReader::name(const Syntax& node) {
  const std::string id = node.text("id");
  const auto local = environment_.find(id);
  if (local != environment_.end()) {
    if (local->second.kind != Item::Kind::Poison) return local->second;
    const Item poison = std::exchange(local->second, Item{});
    // What was said inside a loop is not said again after it.
    const std::string message = base::format(poison.problem->text, poison.detail);
    const auto said = [&](const base::Site& site) { return site.code == poison.problem->code && site.message == message; };
    return std::ranges::any_of(sites_, said) ? Item{} : report(node, *poison.problem, id, poison.detail);
  }
  if (local_imports_.contains(id)) return report(node, diagnostics::module_name, id, id + " is a module or a function, used as a value");
  if (is_local(id)) {
    environment_[id] = Item{};
    return report(node, diagnostics::maybe_unbound, id, id);
  }
  if (definition_.enclosing.contains(id)) return report(node, diagnostics::enclosing_name, id, id);
  return module_name(node, id);
}

Item FunctionReader::module_name(const Syntax& node, const std::string& id) {
  const Binding* binding = scope_.find(id);
  if (!binding) return report(node, diagnostics::unknown_name, id, id);
  const auto refuse = [&](const char* why) { return report(node, diagnostics::module_name, id, id + " " + why); };
  std::string reason;
  const std::optional<Type> annotated = binding->annotation ? read_annotation(binding->annotation, scope_, reason) : std::nullopt;
  if (annotated && (annotated->is_tensor() || binding->kind == Binding::Kind::Annotated)) return hidden_input(id, *annotated);
  switch (binding->kind) {
    case Binding::Kind::Literal: {
      if (const std::optional<Type> type = number_type(*binding->literal)) return hidden_input(id, *type);
      guards_[id] = {id, binding->literal};
      const auto* list = std::get_if<std::vector<int64_t>>(&*binding->literal);
      if (!list) return Item::of(*binding->literal);
      std::vector<Item> elements;
      for (int64_t element : *list) elements.push_back(Item::of(builder_.literal(element)));
      return Item::sequence(std::move(elements), binding->value.is("List"));
    }
    case Binding::Kind::Import:
    case Binding::Kind::Alias: {
      const std::string path = imported(node);
      if (const std::optional<double> number = known_constant(path)) return Item::of(builder_.literal(*number));
      if (const std::optional<ir::DType> dtype = known_dtype(path)) return Item::of(ops::Literal(*dtype));
      return refuse(path.empty() ? "has neither a literal value nor a marker annotation" : "is a module or a function, used as a value");
    }
    case Binding::Kind::Function:
      return refuse("is a function, used as a value");
    case Binding::Kind::Annotated:
      return refuse(reason.c_str());
    case Binding::Kind::Other:
      break;
  }
  return refuse("is bound to several values, or to none that the source shows");
}

Item FunctionReader::hidden_input(const std::string& id, const Type& type) {
  const auto [at, inserted] = hidden_.try_emplace(id, 0);
  if (inserted) at->second = builder_.function.new_value(type, id);
  return Item::of(at->second);
}

Item FunctionReader::attribute(const Syntax& node) {
  const std::string path = imported(node);
  if (!path.empty()) {
    if (const std::optional<double> number = known_constant(path)) return Item::of(builder_.literal(*number));
    if (const std::optional<ir::DType> dtype = known_dtype(path)) return Item::of(ops::Literal(*dtype));
    const std::string spelling = tensorflow_spelling(path);
    return report(node, diagnostics::attribute_read, spelling.empty() ? path : spelling, spelling.empty() ? path : spelling);
  }
  const std::string field = node.text("attr");
  const Item owner = expression(node.child("value"));
  if (owner.failed()) return owner;
  if (is_tensor(owner) && field == "shape") return Item::shape_of(owner.value);
  const bool of_tensor = is_tensor(owner) && field == "ndim";
  const bool of_shape = owner.kind == Item::Kind::Shape && (field == "rank" || field == "ndims");
  if (of_tensor || of_shape) return Item::of(builder_.literal(int64_t{builder_.type(owner.value).rank()}));
  return report(node, diagnostics::attribute_read, "." + field, "." + field);
}

Item FunctionReader::subscript(const Syntax& node) {
  const Item owner = expression(node.child("value"));
  if (owner.failed()) return owner;
  if (owner.kind != Item::Kind::Shape && owner.kind != Item::Kind::Sequence) {
    if (!node.child("slice").is("Slice")) expression(node.child("slice"));
    return report(node, diagnostics::tensor_index, "[]", describe(owner, builder_.function));
  }
  const std::optional<ops::Literal> index = known_literal(node.child("slice"));
  const int64_t* position = index ? std::get_if<int64_t>(&*index) : nullptr;
  const int64_t count = owner.kind == Item::Kind::Shape ? builder_.type(owner.value).rank() : static_cast<int64_t>(owner.elements.size());
  if (!position) return report(node, diagnostics::shape_index, "[]", "no literal int");
  if (*position < -count || *position >= count)
    return report(node, diagnostics::shape_index, "[]",
                  std::to_string(*position) + ", out of range for " + std::to_string(count) + " entries");
  const int64_t at = *position < 0 ? *position + count : *position;
  if (owner.kind == Item::Kind::Sequence) return owner.elements[static_cast<size_t>(at)];
  return Item::of(builder_.dimension(owner.value, static_cast<int>(at)));
}

Item FunctionReader::sequence(const Syntax& node) {
  std::vector<Item> elements;
  bool failed = false;
  for (const Syntax& element : node.children("elts")) {
    elements.push_back(expression(element));
    failed |= elements.back().failed();
  }
  return failed ? Item{} : Item::sequence(std::move(elements), node.is("List"));
}

Item FunctionReader::walrus(const Syntax& node) {
  const Item item = expression(node.child("value"));
  assign(node.child("target"), item);
  return item;
}

Item FunctionReader::conditional(const Syntax& node) {
  const std::optional<Value> test = condition(node.child("test"));
  return choose(
      node, test.value_or(0), [&] { return expression(node.child("body")); }, [&] { return expression(node.child("orelse")); },
      "the conditional expression");
}

Item FunctionReader::boolean(const Syntax& node) {
  const bool conjunction = node.child("op").is("And");
  const std::vector<Syntax> values = node.children("values");
  std::function<Item(size_t)> from = [&](size_t i) -> Item {
    const Item first = expression(values[i]);
    if (i + 1 == values.size()) return first;
    const std::optional<Value> test = first.failed() ? std::nullopt : truth(first, values[i]);
    const auto keep = [&] { return first; };
    const auto rest = [&] { return from(i + 1); };
    const char* word = conjunction ? "`and`" : "`or`";
    return conjunction ? choose(node, test.value_or(0), rest, keep, word) : choose(node, test.value_or(0), keep, rest, word);
  };
  return from(0);
}

std::optional<Value> FunctionReader::condition(const Syntax& node) {
  const GraphBuilder::At at(builder_, node.span());
  if (node.is("UnaryOp") && node.child("op").is("Not")) {
    const std::optional<Value> operand = condition(node.child("operand"));
    if (!operand) return std::nullopt;
    return builder_.scalar(ir::ScalarOp::Not, {*operand}, Type::boolean());
  }
  if (!node.is("BoolOp")) {
    const Item item = expression(node);
    return item.failed() ? std::nullopt : truth(item, node);
  }
  // Only the truth counts, so the operands may have different types.
  const bool conjunction = node.child("op").is("And");
  const std::vector<Syntax> values = node.children("values");
  std::function<Item(size_t)> from = [&](size_t i) -> Item {
    const std::optional<Value> first = condition(values[i]);
    const Item item = first ? Item::of(*first) : Item{};
    if (i + 1 == values.size()) return item;
    const auto keep = [&] { return item; };
    const auto rest = [&] { return from(i + 1); };
    return conjunction ? choose(node, first.value_or(0), rest, keep, "`and`") : choose(node, first.value_or(0), keep, rest, "`or`");
  };
  const Item item = from(0);
  return item.failed() ? std::nullopt : std::optional(item.value);
}

std::optional<Value> FunctionReader::truth(const Item& item, const Syntax& at) {
  if (is_number(item)) return builder_.as_bool(item.value);
  if (item.kind == Item::Kind::Constant) {
    const std::string* text = std::get_if<std::string>(&item.constant);
    return builder_.literal(text ? !text->empty() : !std::holds_alternative<ops::None>(item.constant));
  }
  if (item.kind == Item::Kind::Sequence) return builder_.literal(!item.elements.empty());
  if (!item.failed()) report(at, diagnostics::tensor_condition, "condition", describe(item, builder_.function));
  return std::nullopt;
}

std::optional<ops::Literal> FunctionReader::known_literal(const Item& item) const {
  if (item.kind == Item::Kind::Constant) return item.constant;
  if (item.is_value()) {
    const ops::Literal* literal = builder_.known(item.value);
    return literal ? std::optional(*literal) : std::nullopt;
  }
  if (item.kind != Item::Kind::Sequence) return std::nullopt;
  std::vector<int64_t> values;
  for (const Item& element : item.elements) {
    const std::optional<ops::Literal> literal = known_literal(element);
    const int64_t* value = literal ? std::get_if<int64_t>(&*literal) : nullptr;
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

std::optional<ops::Literal> FunctionReader::known_literal(const Syntax& node) {
  if (std::optional<ops::Literal> literal = read_literal(node)) return literal;
  if (node.is("List") || node.is("Tuple")) {
    std::vector<int64_t> values;
    for (const Syntax& element : node.children("elts")) {
      const std::optional<ops::Literal> literal = known_literal(element);
      const int64_t* value = literal ? std::get_if<int64_t>(&*literal) : nullptr;
      if (!value) return std::nullopt;
      values.push_back(*value);
    }
    return values;
  }
  if (const std::optional<ir::DType> dtype = known_dtype(imported(node))) return *dtype;
  if (!node.is("Name")) return std::nullopt;
  const std::string id = node.text("id");
  if (const auto local = environment_.find(id); local != environment_.end()) return known_literal(local->second);
  return is_local(id) || definition_.enclosing.contains(id) ? std::nullopt : module_literal(id);
}

std::optional<ops::Literal> FunctionReader::module_literal(const std::string& id) {
  const Binding* binding = scope_.find(id);
  if (!binding || binding->kind != Binding::Kind::Literal) return std::nullopt;
  guards_[id] = {id, binding->literal};
  return binding->literal;
}

}  // namespace natif::front
