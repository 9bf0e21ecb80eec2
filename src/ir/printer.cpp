// src/ir/printer.cpp: writes a function in its text form.
#include "ir/printer.h"

#include <charconv>
#include <cmath>
#include <map>

namespace natif::ir {

namespace {

std::string text_of(double value) {
  if (std::isnan(value)) return "nan";
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  return std::isinf(value) || text.find_first_of(".e") != std::string::npos ? text : text + ".0";
}

std::string text_of(const std::string& value) {
  std::string text = "\"";
  for (char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

std::string text_of(const std::vector<int64_t>& value) {
  std::string text = "[";
  for (size_t i = 0; i < value.size(); ++i) text += (i ? ", " : "") + std::to_string(value[i]);
  return text + ']';
}

std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(int64_t value) { return std::to_string(value); }
std::string text_of(DType value) { return std::string(name(value)); }

class Printer {
 public:
  Printer(const Function& function, Places places, bool renumber) : function_(function), places_(places), renumber_(renumber) {}

  std::string function() {
    text_ = "func " + function_.name + "(";
    for (size_t i = 0; i < function_.parameters.size(); ++i) {
      const Parameter& parameter = function_.parameters[i];
      if (i) text_ += ", ";
      if (parameter.hidden) text_ += "hidden ";
      if (parameter.bound) text_ += "bound ";
      names_[parameter.value] = parameter.name;
      if (parameter.sizes.empty()) {
        declare(parameter.value);
      } else {
        use(parameter.value);
        text_ += ": " + to_text(Type::tensor(function_.type(parameter.value).dtype, parameter.sizes));
      }
    }
    text_ += ") -> ";
    if (function_.tuple) text_ += '(';
    for (size_t i = 0; i < function_.results.size(); ++i) text_ += (i ? ", " : "") + to_text(function_.results[i]);
    if (function_.tuple) text_ += ')';
    place(function_.span, -1);
    text_ += ' ';
    region(function_.body);
    return text_ + "\n";
  }

  std::string one(const Node& which) {
    node(which);
    return text_;
  }

 private:
  void use(Value value) {
    const auto number = renumber_ ? numbers_.try_emplace(value, numbers_.size()).first->second : value;
    const auto named = names_.find(value);
    std::string name = named != names_.end() ? named->second : value < function_.values.size() ? function_.values[value].name : "";
    text_ += '%' + (name.empty() ? "" : name + '.') + std::to_string(number);
  }

  void declare(Value value) {
    use(value);
    text_ += ": " + (value < function_.values.size() ? to_text(function_.type(value)) : std::string("?"));
  }

  void place(const base::Span& span, int site) {
    if (places_ == Places::Hidden) return;
    if (span != base::Span{})
      text_ += " @" + std::to_string(span.line) + ':' + std::to_string(span.column) + '-' + std::to_string(span.end_line) + ':' +
               std::to_string(span.end_column);
    if (site >= 0) text_ += " #" + std::to_string(site);
  }

  void node(const Node& node) {
    for (size_t i = 0; i < node.results.size(); ++i) {
      if (i) text_ += ", ";
      declare(node.results[i]);
    }
    if (!node.results.empty()) text_ += " = ";
    text_ += node.kind == NodeKind::Op ? node.op : std::string(name(node.kind));
    if (node.kind == NodeKind::Scalar) text_ += '.' + std::string(name(node.scalar));
    text_ += '(';
    bool first = true;
    const auto separate = [&] {
      if (!first) text_ += ", ";
      first = false;
    };
    for (Value operand : node.operands) {
      separate();
      use(operand);
    }
    for (const Attribute& attribute : node.attributes) {
      separate();
      text_ += attribute.name + '=' + std::visit([](const auto& value) { return text_of(value); }, attribute.value);
    }
    text_ += ')';
    place(node.span, node.site);
    for (size_t i = 0; i < node.regions.size(); ++i) {
      text_ += i ? " else " : " ";
      region(node.regions[i]);
    }
  }

  void region(const Region& region) {
    if (!region.arguments.empty()) {
      text_ += '(';
      for (size_t i = 0; i < region.arguments.size(); ++i) {
        if (i) text_ += ", ";
        declare(region.arguments[i]);
      }
      text_ += ") ";
    }
    text_ += "{\n";
    depth_ += 2;
    for (const Node& inner : region.nodes) {
      text_.append(depth_, ' ');
      node(inner);
      text_ += '\n';
    }
    depth_ -= 2;
    text_.append(depth_, ' ') += '}';
  }

  const Function& function_;
  Places places_;
  bool renumber_;
  std::string text_;
  size_t depth_ = 0;
  std::map<Value, size_t> numbers_;
  std::map<Value, std::string> names_;  // of parameters, which may be named otherwise than their value
};

}  // namespace

std::string print(const Function& function, Places places) { return Printer(function, places, true).function(); }
std::string print(const Function& function, const Node& node) { return Printer(function, Places::Hidden, false).one(node); }

}  // namespace natif::ir
