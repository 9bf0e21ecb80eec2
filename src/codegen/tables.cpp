// src/codegen/tables.cpp: see tables.h.
#include "codegen/tables.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace natif::codegen {

namespace {

template <class T>
size_t index_of(std::vector<T>& table, const T& entry) {
  const auto found = std::find(table.begin(), table.end(), entry);
  if (found != table.end()) return static_cast<size_t>(found - table.begin());
  table.push_back(entry);
  return table.size() - 1;
}

void append_int32(std::vector<unsigned char>& bytes, int64_t value) {
  const auto narrow = static_cast<int32_t>(value);
  base::require(narrow == value, "an axis outside 32 bits");
  unsigned char raw[sizeof narrow];
  std::memcpy(raw, &narrow, sizeof narrow);
  bytes.insert(bytes.end(), raw, raw + sizeof narrow);
}

std::vector<Code> numbers(const std::vector<int64_t>& values) {
  std::vector<Code> codes;
  for (int64_t value : values) codes.push_back(number(value));
  return codes;
}

// The initialiser of a natif_attribute; `array` names the list of one whose value is a list.
Code attribute_fields(const ir::Attribute& attribute, const Code& array) {
  const Code name = quoted(attribute.name);
  if (const auto* value = std::get_if<bool>(&attribute.value))
    return code("{$, NATIF_ATTRIBUTE_BOOL, $, 0, nullptr, nullptr}", name, *value ? 1 : 0);
  if (const auto* value = std::get_if<int64_t>(&attribute.value))
    return code("{$, NATIF_ATTRIBUTE_INT, $, 0, nullptr, nullptr}", name, number(*value));
  if (const auto* value = std::get_if<double>(&attribute.value))
    return code("{$, NATIF_ATTRIBUTE_FLOAT, 0, $, nullptr, nullptr}", name, number(*value));
  if (const auto* value = std::get_if<ir::DType>(&attribute.value))
    return code("{$, NATIF_ATTRIBUTE_TYPE, $, 0, nullptr, nullptr}", name, ir::abi_number(*value));
  if (const auto* value = std::get_if<std::string>(&attribute.value))
    return code("{$, NATIF_ATTRIBUTE_STRING, 0, 0, $, nullptr}", name, quoted(*value));
  return code("{$, NATIF_ATTRIBUTE_INTS, $, 0, nullptr, $}", name, std::get<std::vector<int64_t>>(attribute.value).size(), array);
}

}  // namespace

Constant int32_constant(const ir::AttributeValue& axes) {
  Constant constant{ir::DType::Int32, {}, {}};
  if (const auto* axis = std::get_if<int64_t>(&axes)) {
    append_int32(constant.bytes, *axis);
    return constant;
  }
  const auto* several = std::get_if<std::vector<int64_t>>(&axes);
  base::require(several, "an attribute that becomes an operand is an int or a list of ints");
  constant.dims = {static_cast<int64_t>(several->size())};
  for (int64_t axis : *several) append_int32(constant.bytes, axis);
  return constant;
}

size_t Tables::op_site(const ir::Node& node, const ops::OpDef& op, bool reads_result) {
  const auto [place, added] = site_of_node_.try_emplace(&node, op_sites_.size());
  if (added) op_sites_.push_back({&node, &op, reads_result, span(node.span)});
  return place->second;
}

size_t Tables::constant(const Constant& constant) { return index_of(constants_, constant); }
size_t Tables::span(const base::Span& span) { return index_of(spans_, span); }

size_t Tables::rule(const std::string& name) {
  const size_t index = index_of(rules_, name);
  if (index >= 64)
    throw base::UserError("natif: the functions of one module rely on more than 64 exactness rules; move some to another module");
  return index;
}

void Tables::print_op_sites(Writer& w) const {
  for (size_t i = 0; i < op_sites_.size(); ++i) {
    const OpSite& site = op_sites_[i];
    std::vector<Code> fields;
    for (std::string_view name : site.op->tfe->attributes) {
      const ir::AttributeValue* value = ir::find(site.node->attributes, name);
      if (!value) continue;
      const Code array = code("site_$_$", i, trusted_name(name));
      if (const auto* values = std::get_if<std::vector<int64_t>>(value))
        w.line("constexpr int64_t $[] = {$};", array, list(numbers(*values)));
      fields.push_back(attribute_fields({std::string(name), *value}, array));
    }
    if (!fields.empty()) w.line("constexpr natif_attribute site_$_attributes[] = {$};", i, list(fields));
  }
  w.line("// op, attributes, attribute_count, operand_count, result_count, flags, span");
  w.line("constexpr natif_op_site op_sites[] = {");
  for (size_t i = 0; i < op_sites_.size(); ++i) {
    const OpSite& site = op_sites_[i];
    const auto given = [&](std::string_view name) { return ir::find(site.node->attributes, name) != nullptr; };
    const auto attributes = std::count_if(site.op->tfe->attributes.begin(), site.op->tfe->attributes.end(), given);
    const size_t operands = site.node->operands.size() + site.op->tfe->constants.size();
    w.line("{$, $, $, $, $, $, $},", quoted(site.op->tfe->op), attributes ? code("site_$_attributes", i) : Code("nullptr"), attributes,
           operands, site.node->results.size(), site.reads_result ? Code("NATIF_READS_RESULT") : Code("0"), site.span);
  }
  w.close(";");
}

void Tables::print_constants(Writer& w) const {
  std::vector<Code> rows;
  for (size_t i = 0; i < constants_.size(); ++i) {
    const Constant& constant = constants_[i];
    std::vector<Code> bytes;
    for (unsigned char byte : constant.bytes) bytes.push_back(byte);
    if (bytes.empty()) bytes.push_back(0);  // an array has at least one element
    w.line("alignas(8) constexpr unsigned char constant_$[] = {$};", i, list(bytes));
    if (!constant.dims.empty()) w.line("constexpr int64_t constant_$_dims[] = {$};", i, list(numbers(constant.dims)));
    rows.push_back(code("{$, $, $, constant_$}", ir::abi_number(constant.dtype), constant.dims.size(),
                        constant.dims.empty() ? Code("nullptr") : code("constant_$_dims", i), i));
  }
  w.line("// dtype, rank, dims, data");
  w.line("constexpr natif_constant constants[] = {");
  for (const Code& row : rows) w.line("$,", row);
  w.close(";");
}

void Tables::print(Writer& w) const {
  if (!op_sites_.empty()) print_op_sites(w);
  if (!constants_.empty()) print_constants(w);
  w.line("// line, column, end_line, end_column");
  w.line("constexpr natif_span spans[] = {");
  for (const base::Span& span : spans_) w.line("{$, $, $, $},", span.line, span.column, span.end_line, span.end_column);
  w.close(";");
  if (rules_.empty()) return;
  std::vector<Code> names;
  for (const std::string& rule : rules_) names.push_back(quoted(rule));
  w.line("constexpr const char* rules[] = {$};", list(names));
}

void Tables::print_rule_fields(Writer& w) const {
  w.line(".rules = $, .rule_count = $,", rules_.empty() ? Code("nullptr") : Code("rules"), rules_.size());
}

void Tables::print_other_fields(Writer& w) const {
  w.line(".op_sites = $, .op_site_count = $,", op_sites_.empty() ? Code("nullptr") : Code("op_sites"), op_sites_.size());
  w.line(".constants = $, .constant_count = $,", constants_.empty() ? Code("nullptr") : Code("constants"), constants_.size());
  w.line(".spans = spans, .span_count = $,", spans_.size());
}

}  // namespace natif::codegen
