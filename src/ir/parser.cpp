// src/ir/parser.cpp: a recursive-descent parser of the text form, one function for each rule of the grammar.
#include "ir/parser.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>

#include "base/error.h"

namespace natif::ir {

namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  bool at_end() {
    skip_space();
    return position_ == text_.size();
  }

  Function function() {
    function_ = {};
    values_.clear();
    expect("func");
    function_.name = word("(", "a function's name");
    expect("(");
    while (!accept(")")) {
      if (!function_.parameters.empty()) expect(",");
      const bool hidden = accept("hidden "), bound = accept("bound ");
      std::vector<int64_t> sizes;
      const Value value = declaration(&sizes);
      function_.parameters.push_back({function_.values[value].name, value, hidden, bound, std::move(sizes)});
    }
    expect("->");
    function_.tuple = accept("(");
    if (function_.tuple) {
      while (!accept(")")) {
        if (!function_.results.empty()) expect(",");
        function_.results.push_back(type());
      }
    } else {
      function_.results.push_back(type());
    }
    function_.span = span();
    function_.body = region();
    return std::move(function_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    size_t line = 1;
    for (size_t i = 0; i < position_; ++i) line += text_[i] == '\n';
    const size_t end = text_.find('\n', position_);
    throw base::UserError("natif: line " + std::to_string(line) + " of the graph's text: expected " + what + " at `" +
                          std::string(text_.substr(position_, std::min<size_t>(end - position_, 40))) + "`");
  }

  void skip_space() {
    for (;;) {
      position_ = std::min(text_.find_first_not_of(" \n\t\r", position_), text_.size());
      if (text_.substr(position_, 2) != "//") return;
      position_ = std::min(text_.find('\n', position_), text_.size());
    }
  }

  bool accept(std::string_view token) {
    skip_space();
    if (text_.substr(position_, token.size()) != token) return false;
    position_ += token.size();
    return true;
  }

  void expect(std::string_view token) {
    if (!accept(token)) fail("`" + std::string(token) + "`");
  }

  /// Everything up to one of `ends`, which may not be nothing.
  std::string word(std::string_view ends, const char* what) {
    skip_space();
    const size_t end = text_.find_first_of(ends, position_);
    if (end == std::string_view::npos || end == position_) fail(what);
    const std::string found(text_.substr(position_, end - position_));
    position_ = end;
    return found;
  }

  int64_t integer() {
    skip_space();
    int64_t value = 0;
    const char* start = text_.data() + position_;
    const auto [end, error] = std::from_chars(start, text_.data() + text_.size(), value);
    if (error != std::errc{}) fail("an int");
    position_ += static_cast<size_t>(end - start);
    return value;
  }

  /// `sizes`, where it is given, gets those of a tensor that has some in common with other parameters.
  Type type(std::vector<int64_t>* sizes = nullptr) {
    if (accept("int")) return Type::integer();
    if (accept("float")) return Type::real();
    if (accept("bool")) return Type::boolean();
    const std::string short_name = word("[", "a type");
    for (DType dtype : all_dtypes) {
      const std::string scalar = to_text(Type::tensor(dtype, {}));
      if (scalar.substr(0, scalar.size() - 2) != short_name) continue;
      expect("[");
      std::vector<int64_t> dims;
      while (!accept("]")) {
        if (!dims.empty()) expect(",");
        const bool is_free = accept("?");
        const bool is_shared = is_free && sizes && position_ < text_.size() && text_[position_] >= '1' && text_[position_] <= '9';
        dims.push_back(is_shared ? free_size - integer() : is_free ? free_size : integer());
      }
      const auto shared = [](int64_t size) { return size < free_size; };
      if (sizes && std::any_of(dims.begin(), dims.end(), shared)) *sizes = dims;
      std::replace_if(dims.begin(), dims.end(), shared, free_size);
      return Type::tensor(dtype, std::move(dims));
    }
    fail("a type");
  }

  struct Named {
    std::string name;
    int64_t number;
  };

  Named value_name() {
    expect("%");
    const std::string text = word(" ,):\n=", "a value");
    const size_t dot = text.rfind('.');
    const std::string digits = dot == std::string::npos ? text : text.substr(dot + 1);
    int64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc{} || end != digits.data() + digits.size()) fail("a value's number before this place");
    return {dot == std::string::npos ? "" : text.substr(0, dot), number};
  }

  Value use() {
    const Named named = value_name();
    const auto found = values_.find(named.number);
    if (found == values_.end()) fail("a value that is declared above, not %" + std::to_string(named.number) + ",");
    return found->second;
  }

  Value declaration(std::vector<int64_t>* sizes = nullptr) {
    const Named named = value_name();
    expect(":");
    const Value value = function_.new_value(type(sizes), named.name);
    if (!values_.emplace(named.number, value).second) fail("a new value, not %" + std::to_string(named.number) + " again,");
    return value;
  }

  base::Span span() {
    base::Span span;
    if (!accept("@")) return span;
    span.line = static_cast<int>(integer());
    expect(":");
    span.column = static_cast<int>(integer());
    expect("-");
    span.end_line = static_cast<int>(integer());
    expect(":");
    span.end_column = static_cast<int>(integer());
    return span;
  }

  std::string string() {
    std::string value;
    expect("\"");
    for (; position_ < text_.size() && text_[position_] != '"'; ++position_) {
      if (text_[position_] == '\\') ++position_;
      if (position_ < text_.size()) value += text_[position_];
    }
    expect("\"");
    return value;
  }

  AttributeValue attribute_value() {
    skip_space();
    if (text_.substr(position_, 1) == "\"") return string();
    if (accept("[")) {
      std::vector<int64_t> list;
      while (!accept("]")) {
        if (!list.empty()) expect(",");
        list.push_back(integer());
      }
      return list;
    }
    if (accept("true")) return true;
    if (accept("false")) return false;
    for (DType dtype : all_dtypes)
      if (accept(name(dtype))) return dtype;
    const size_t end = text_.find_first_of(",)", position_);
    if (text_.substr(position_, end - position_).find_first_of(".enf") == std::string_view::npos) return integer();
    const std::string number = word(",)", "a value");
    char* rest = nullptr;
    const double value = std::strtod(number.c_str(), &rest);
    if (*rest) fail("a number before this place");
    return value;
  }

  Region region() {
    Region region;
    if (accept("(")) {
      while (!accept(")")) {
        if (!region.arguments.empty()) expect(",");
        region.arguments.push_back(declaration());
      }
    }
    expect("{");
    while (!accept("}")) region.nodes.push_back(node());
    return region;
  }

  /// Results come into scope after the regions, but their declarations stand before: they are read first and declared last.
  Node node() {
    struct Result {
      Named named;
      Type type;
    };
    std::vector<Result> results;
    for (skip_space(); text_.substr(position_, 1) == "%"; accept(","), skip_space()) {
      const Named named = value_name();
      expect(":");
      results.push_back({named, type()});
      skip_space();
    }
    if (!results.empty()) expect("=");
    Node node = head();
    expect("(");
    bool first = true;
    while (!accept(")")) {
      if (!first) expect(",");
      first = false;
      skip_space();
      if (text_.substr(position_, 1) == "%") {
        node.operands.push_back(use());
      } else {
        std::string name = word("=", "an attribute");
        expect("=");
        node.attributes.push_back({std::move(name), attribute_value()});
      }
    }
    node.span = span();
    if (accept("#")) node.site = static_cast<int>(integer());
    skip_space();
    if (text_.substr(position_, 1) == "{" || text_.substr(position_, 1) == "(") {
      do node.regions.push_back(region());
      while (accept("else"));
    }
    for (Result& result : results) {
      const Value value = function_.new_value(std::move(result.type), result.named.name);
      if (!values_.emplace(result.named.number, value).second) fail("a new value, not %" + std::to_string(result.named.number) + " again,");
      node.results.push_back(value);
    }
    return node;
  }

  Node head() {
    constexpr std::string_view scalar_prefix = "scalar.";
    const std::string text = word("(", "a node");
    Node node;
    node.kind = NodeKind::Op;
    for (int kind = 1; kind <= static_cast<int>(NodeKind::Return); ++kind)
      if (name(static_cast<NodeKind>(kind)) == text) node.kind = static_cast<NodeKind>(kind);
    if (node.kind != NodeKind::Op) return node;
    if (!text.starts_with(scalar_prefix)) {
      node.op = text;
      return node;
    }
    node.kind = NodeKind::Scalar;
    for (int op = 0; op <= static_cast<int>(ScalarOp::ToBool); ++op) {
      node.scalar = static_cast<ScalarOp>(op);
      if (name(node.scalar) == text.substr(scalar_prefix.size())) return node;
    }
    fail("an operation on numbers before this place");
  }

  std::string_view text_;
  size_t position_ = 0;
  Function function_;
  std::map<int64_t, Value> values_;
};

}  // namespace

Function parse(std::string_view text) {
  std::vector<Function> functions = parse_all(text);
  if (functions.size() != 1) throw base::UserError("natif: expected the text of one function, got " + std::to_string(functions.size()));
  return std::move(functions[0]);
}

std::vector<Function> parse_all(std::string_view text) {
  Parser parser(text);
  std::vector<Function> functions;
  while (!parser.at_end()) functions.push_back(parser.function());
  return functions;
}

}  // namespace natif::ir
