// src/front/annotations.cpp: from an annotation's expression to a type, through aliases, quotes and typing's wrappers.
#include "front/annotations.h"

#include <nanobind/stl/string.h>

#include <algorithm>

#include "front/literals.h"

namespace nb = nanobind;

namespace natif::front {

namespace {

constexpr int max_aliases = 32;

struct Reader {
  const ModuleScope& scope;
  std::string& reason;
  int depth = 0;
  std::vector<std::string> size_names = {};  // of the last shape that was written out

  std::nullopt_t refuse(std::string why) {
    reason = std::move(why);
    return std::nullopt;
  }

  /// The expression with quotes taken away and aliases of the module followed.
  Syntax unquoted(const Syntax& annotation) {
    Syntax at = annotation;
    for (int i = 0; i < max_aliases; ++i) {
      if (at.is("Constant") && nb::isinstance<nb::str>(at.constant())) {
        at = parse(nb::cast<std::string>(at.constant()));
      } else if (const Binding* binding = at.is("Name") ? scope.find(at.text("id")) : nullptr; binding && is_alias(*binding)) {
        at = binding->value;
      } else {
        return at;
      }
      if (!at) return at;
    }
    return {};
  }

  bool is_alias(const Binding& binding) const {
    if (binding.kind == Binding::Kind::Alias) return true;
    return binding.kind == Binding::Kind::Annotated && binding.value && is_typing(binding.annotation, "TypeAlias");
  }

  static Syntax parse(const std::string& text) {
    try {
      return Syntax(nb::module_::import_("ast").attr("parse")(text, nb::arg("mode") = "eval")).child("body");
    } catch (const nb::python_error& error) {
      if (error.matches(PyExc_SyntaxError) || error.matches(PyExc_ValueError)) return {};
      throw;
    }
  }

  bool is_typing(const Syntax& expression, const std::string& name) const {
    const std::string path = scope.imported(expression);
    return path == "typing." + name || path == "typing_extensions." + name;
  }

  /// "TensorF32Cpu2D" for an expression that names that marker; "" for none.
  std::string marker(const Syntax& expression) const {
    const std::string path = scope.imported(expression);
    const size_t dot = path.rfind('.');
    return dot != std::string::npos && is_marker_module(path.substr(0, dot)) ? path.substr(dot + 1) : std::string();
  }

  std::optional<ir::Type> number(const Syntax& expression) const {
    const bool builtin = expression.is("Name") && !scope.find(expression.text("id"));
    const std::string name = builtin ? expression.text("id") : std::string();
    if (name == "int") return ir::Type::integer();
    if (name == "float") return ir::Type::real();
    if (name == "bool") return ir::Type::boolean();
    return std::nullopt;
  }

  std::optional<ir::Type> named(const std::string& name) {
    struct Family {
      std::string_view prefix;
      ir::DType dtype;
    };
    constexpr Family families[] = {{"TensorF32Cpu", ir::DType::Float32},
                                   {"TensorF64Cpu", ir::DType::Float64},
                                   {"TensorI32Cpu", ir::DType::Int32},
                                   {"TensorI64Cpu", ir::DType::Int64},
                                   {"TensorBoolCpu", ir::DType::Bool}};
    for (const Family& family : families) {
      if (!name.starts_with(family.prefix) || name.size() != family.prefix.size() + 2 || name.back() != 'D') continue;
      const int rank = name[family.prefix.size()] - '0';
      if (rank >= 0 && rank <= ir::max_rank) return ir::Type::tensor_of_rank(family.dtype, rank);
    }
    return refuse("is annotated with " + name + ", which natif.types does not have");
  }

  std::optional<std::vector<int64_t>> shape(const Syntax& dims) {
    if (const std::optional<ops::Literal> literal = read_literal(dims)) {
      if (const int64_t* rank = std::get_if<int64_t>(&*literal)) {
        if (*rank < 0 || *rank > ir::max_rank) return refuse("has a rank that is not between 0 and " + std::to_string(ir::max_rank));
        return std::vector<int64_t>(static_cast<size_t>(*rank), ir::free_size);
      }
    }
    if (!dims.is("Tuple")) return refuse("is annotated with a shape that is neither a rank nor a tuple of sizes");
    std::vector<int64_t> sizes;
    size_names.clear();
    for (const Syntax& element : dims.children("elts")) {
      std::optional<ops::Literal> size = read_literal(element);
      if (!size && element.is("Name")) {
        const Binding* binding = scope.find(element.text("id"));
        if (binding) size = binding->literal;
      }
      const int64_t* number = size ? std::get_if<int64_t>(&*size) : nullptr;
      const bool named = size && (std::holds_alternative<std::string>(*size) || std::holds_alternative<ops::None>(*size));
      if (!named && (!number || *number < 0)) return refuse("is annotated with a size that is neither an int, a name nor None");
      sizes.push_back(number ? *number : ir::free_size);
      const std::string* name = size ? std::get_if<std::string>(&*size) : nullptr;
      size_names.push_back(name ? *name : std::string());
    }
    if (sizes.size() > ir::max_rank) return refuse("has more than " + std::to_string(ir::max_rank) + " axes");
    return sizes;
  }

  /// `Tensor["float32", 2]`.
  std::optional<ir::Type> general(const Syntax& content) {
    const std::vector<Syntax> parts = content.is("Tuple") ? content.children("elts") : std::vector<Syntax>{};
    const std::optional<ops::Literal> dtype = parts.size() == 2 ? read_literal(parts[0]) : std::nullopt;
    const std::string* text = dtype ? std::get_if<std::string>(&*dtype) : nullptr;
    if (!text) return refuse("is annotated with a Tensor that has no dtype and shape");
    for (ir::DType candidate : ir::all_dtypes) {
      if (ir::name(candidate) != *text) continue;
      const std::optional<std::vector<int64_t>> dims = shape(parts[1]);
      return dims ? std::optional(ir::Type::tensor(candidate, *dims)) : std::nullopt;
    }
    return refuse("is annotated with the dtype " + *text + ", which natif does not have");
  }

  std::optional<ir::Type> subscript(const Syntax& expression) {
    const Syntax base = expression.child("value"), content = expression.child("slice");
    if (marker(base) == "Tensor") return general(content);
    if (is_typing(base, "Final") || is_typing(base, "ClassVar")) return type(content);
    if (is_typing(base, "Annotated") && content.is("Tuple")) {
      for (const Syntax& part : content.children("elts"))
        if (std::optional<ir::Type> found = type(part)) return found;
      return refuse("is Annotated without a marker");
    }
    return refuse("is annotated with what is no marker of natif.types");
  }

  std::optional<ir::Type> type(const Syntax& annotation) {
    if (++depth > max_aliases) return refuse("has an annotation that refers to itself");
    const Syntax expression = unquoted(annotation);
    if (!expression) return refuse("has an annotation that is no expression");
    if (std::optional<ir::Type> found = number(expression)) return found;
    if (expression.is("Subscript")) return subscript(expression);
    const std::string name = marker(expression);
    return name.empty() || name == "Tensor" ? refuse("is annotated with what is no marker of natif.types") : named(name);
  }
};

}  // namespace

bool is_marker_module(const std::string& path) { return path == "natif.types" || path == "rextio_tensorflow.types"; }

const std::vector<std::string>& marker_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{"Tensor"};
    for (const char* prefix : {"TensorF32Cpu", "TensorF64Cpu", "TensorI32Cpu", "TensorI64Cpu", "TensorBoolCpu"})
      for (int rank = 0; rank <= ir::max_rank; ++rank) all.push_back(prefix + std::to_string(rank) + "D");
    return all;
  }();
  return names;
}

std::optional<ir::Type> read_annotation(const Syntax& annotation, const ModuleScope& scope, std::string& reason,
                                        std::vector<std::string>* size_names) {
  Reader reader{scope, reason};
  std::optional<ir::Type> type = reader.type(annotation);
  if (size_names) *size_names = std::move(reader.size_names);
  return type;
}

std::optional<ResultAnnotation> read_result_annotation(const Syntax& annotation, const ModuleScope& scope, std::string& reason) {
  Reader reader{scope, reason};
  const Syntax expression = reader.unquoted(annotation);
  const Syntax base = expression.is("Subscript") ? expression.child("value") : Syntax();
  const bool builtin = base.is("Name") && base.text("id") == "tuple" && !scope.find("tuple");
  if (!base || !(builtin || reader.is_typing(base, "Tuple"))) {
    const std::optional<ir::Type> type = reader.type(annotation);
    return type ? std::optional(ResultAnnotation{{*type}, false}) : std::nullopt;
  }
  const Syntax content = expression.child("slice");
  ResultAnnotation result{{}, true};
  for (const Syntax& part : content.is("Tuple") ? content.children("elts") : std::vector<Syntax>{content}) {
    const std::optional<ir::Type> type = reader.type(part);
    if (!type) return std::nullopt;
    result.types.push_back(*type);
  }
  if (result.types.empty()) return reader.refuse("is an empty tuple");
  return result;
}

}  // namespace natif::front
