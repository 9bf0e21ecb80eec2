// src/eval/module.cpp: fills the tables of a natif_module from graphs.
#include "eval/module.h"

#include <deque>
#include <memory>
#include <type_traits>

#include "eval/program.h"
#include "ops/registry.h"
#include "ops/verify.h"

namespace natif::eval {

namespace {

natif_status entry(const natif_host* host, natif_call* call, natif_frame* frame);

/// What natif_function.entries points to: its only entry, which all functions share, and the program that the entry finds there.
struct Entries {
  natif_entry only = entry;
  const Program* program;
};
static_assert(std::is_standard_layout_v<Entries>, "a pointer to the entry is a pointer to the whole");

natif_status entry(const natif_host* host, natif_call* call, natif_frame* frame) {
  return interpret(*reinterpret_cast<const Entries*>(call->function->entries)->program, *host, call, frame);
}

natif_kind kind_of(const ir::Type& type) {
  switch (type.kind) {
    case ir::Type::Kind::Int:
      return NATIF_INT;
    case ir::Type::Kind::Float:
      return NATIF_FLOAT;
    case ir::Type::Kind::Bool:
      return NATIF_BOOLEAN;
    case ir::Type::Kind::Tensor:
      break;
  }
  return NATIF_TENSOR;
}

constexpr const char* levels[] = {"any"};

/// A natif_module together with all that it points to.
class Module {
 public:
  Module(std::string name, std::string source_file, std::vector<ir::Function> functions)
      : name_(std::move(name)), source_file_(std::move(source_file)) {
    for (ir::Function& function : functions) {
      ops::verify(function);
      add(std::move(function));
    }
    module_ = {.abi_version = NATIF_ABI_VERSION,
               .struct_size = sizeof(natif_module),
               .name = name_.c_str(),
               .source_file = source_file_.c_str(),
               .levels = levels,
               .level_count = 1,
               .rules = nullptr,
               .rule_count = 0,
               .functions = functions_.data(),
               .function_count = static_cast<int32_t>(functions_.size()),
               .op_sites = op_sites_.data(),
               .op_site_count = static_cast<int32_t>(op_sites_.size()),
               .constants = constants_.data(),
               .constant_count = static_cast<int32_t>(constants_.size()),
               .spans = spans_.data(),
               .span_count = static_cast<int32_t>(spans_.size())};
  }

  const natif_module* get() const { return &module_; }

 private:
  void add(ir::Function function) {
    Program& program = programs_.emplace_back();
    program.function = std::move(function);
    const ir::Function& graph = program.function;
    bool reads_sizes = false;
    ir::for_each_node(graph.body, [&](const ir::Node& node) { reads_sizes |= node.kind == ir::NodeKind::Dimension; });
    ir::for_each_node(graph.body, [&](const ir::Node& node) {
      if (node.kind == ir::NodeKind::Op) program.sites.emplace(&node, site(node, reads_sizes));
      if (node.kind == ir::NodeKind::Scalar || node.kind == ir::NodeKind::For) program.spans.emplace(&node, span(node.span));
    });
    std::vector<natif_value_type>& parameters = value_types_.emplace_back();
    for (const ir::Parameter& parameter : graph.parameters)
      parameters.push_back(value_type(parameter.name.c_str(), graph.type(parameter.value), parameter.hidden, graph.sizes_of(parameter)));
    std::vector<natif_value_type>& results = value_types_.emplace_back();
    for (const ir::Type& result : graph.results) results.push_back(value_type("", result, false, result.dims));
    functions_.push_back({.name = graph.name.c_str(),
                          .entries = &entries_.emplace_back(Entries{.program = &program}).only,
                          .parameters = parameters.data(),
                          .parameter_count = static_cast<int32_t>(parameters.size()),
                          .results = results.data(),
                          .result_count = static_cast<int32_t>(results.size()),
                          .tuple = graph.tuple,
                          .span = span(graph.span)});
  }

  natif_value_type value_type(const char* name, const ir::Type& type, bool hidden, const std::vector<int64_t>& sizes) {
    return {.name = name,
            .kind = kind_of(type),
            .dtype = ir::abi_number(type.dtype),
            .rank = type.rank(),
            .hidden = hidden,
            .dims = sizes.empty() ? nullptr : lists_.emplace_back(sizes).data()};
  }

  int32_t span(const base::Span& place) {
    spans_.push_back({place.line, place.column, place.end_line, place.end_column});
    return static_cast<int32_t>(spans_.size() - 1);
  }

  Site site(const ir::Node& node, bool reads_sizes) {
    const ops::Tfe& op = ops::find_node(node.op).tfe;
    std::vector<natif_attribute>& attributes = attributes_.emplace_back();
    for (std::string_view name : op.attributes)
      if (const ir::AttributeValue* value = ir::find(node.attributes, name)) attributes.push_back(attribute(name, *value));
    Site site{.site = static_cast<int32_t>(op_sites_.size()), .constants = {}};
    for (std::string_view name : op.constants) site.constants.push_back(constant(*ir::find(node.attributes, name)));
    op_sites_.push_back({.op = text(op.op),
                         .attributes = attributes.data(),
                         .attribute_count = static_cast<int32_t>(attributes.size()),
                         .operand_count = static_cast<int32_t>(node.operands.size() + site.constants.size()),
                         .result_count = static_cast<int32_t>(node.results.size()),
                         .flags = reads_sizes ? NATIF_READS_RESULT : 0,
                         .span = span(node.span)});
    return site;
  }

  natif_attribute attribute(std::string_view name, const ir::AttributeValue& value) {
    natif_attribute made{.name = text(name), .type = NATIF_ATTRIBUTE_BOOL, .integer = 0, .real = 0, .text = nullptr, .list = nullptr};
    if (const bool* flag = std::get_if<bool>(&value)) {
      made.integer = *flag;
    } else if (const int64_t* integer = std::get_if<int64_t>(&value)) {
      made.type = NATIF_ATTRIBUTE_INT;
      made.integer = *integer;
    } else if (const double* real = std::get_if<double>(&value)) {
      made.type = NATIF_ATTRIBUTE_FLOAT;
      made.real = *real;
    } else if (const ir::DType* dtype = std::get_if<ir::DType>(&value)) {
      made.type = NATIF_ATTRIBUTE_TYPE;
      made.integer = ir::abi_number(*dtype);
    } else if (const std::string* string = std::get_if<std::string>(&value)) {
      made.type = NATIF_ATTRIBUTE_STRING;
      made.text = text(*string);
    } else {
      const std::vector<int64_t>& list = lists_.emplace_back(std::get<std::vector<int64_t>>(value));
      made.type = NATIF_ATTRIBUTE_INTS;
      made.integer = static_cast<int64_t>(list.size());
      made.list = list.data();
    }
    return made;
  }

  /// The int32 tensor that TensorFlow's Python makes of an int (rank 0) or of a list (rank 1).
  int32_t constant(const ir::AttributeValue& value) {
    const auto* list = std::get_if<std::vector<int64_t>>(&value);
    std::vector<int32_t>& elements = elements_.emplace_back();
    if (list) {
      elements.assign(list->begin(), list->end());
    } else {
      elements.push_back(static_cast<int32_t>(std::get<int64_t>(value)));
    }
    const int64_t* dims = list ? lists_.emplace_back(std::vector<int64_t>{static_cast<int64_t>(list->size())}).data() : nullptr;
    elements.reserve(1);  // so that a list of nothing has an address too
    constants_.push_back({.dtype = NATIF_INT32, .rank = list ? 1 : 0, .dims = dims, .data = elements.data()});
    return static_cast<int32_t>(constants_.size() - 1);
  }

  const char* text(std::string_view text) { return texts_.emplace_back(text).c_str(); }

  // Deques, where elements are pointed to: they keep their addresses while the tables grow.
  std::string name_, source_file_;
  std::deque<Program> programs_;
  std::deque<Entries> entries_;
  std::deque<std::vector<natif_value_type>> value_types_;
  std::deque<std::vector<natif_attribute>> attributes_;
  std::deque<std::vector<int64_t>> lists_;
  std::deque<std::vector<int32_t>> elements_;
  std::deque<std::string> texts_;
  std::vector<natif_function> functions_;
  std::vector<natif_op_site> op_sites_;
  std::vector<natif_constant> constants_;
  std::vector<natif_span> spans_;
  natif_module module_{};
};

}  // namespace

const natif_module* make_module(std::string name, std::string source_file, std::vector<ir::Function> functions) {
  static std::deque<std::unique_ptr<const Module>>& kept = *new std::deque<std::unique_ptr<const Module>>;
  kept.push_back(std::make_unique<const Module>(std::move(name), std::move(source_file), std::move(functions)));
  return kept.back()->get();
}

}  // namespace natif::eval
