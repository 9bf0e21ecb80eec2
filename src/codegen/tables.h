// src/codegen/tables.h: the module's static tables (runtime/abi.h: op sites, constants, spans, rules), collected while functions are
// emitted and printed once. An entry that exists is shared, so the same function emitted for several vector levels has the same indices.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/span.h"
#include "codegen/writer.h"
#include "ir/graph.h"
#include "ops/op_def.h"

namespace natif::codegen {

/// A tensor known when compiling: elements in row-major order.
struct Constant {
  ir::DType dtype;
  std::vector<int64_t> dims;
  std::vector<unsigned char> bytes;

  bool operator==(const Constant&) const = default;
};

Constant int32_constant(const ir::AttributeValue& axes);  // an int: rank 0; a list: rank 1

class Tables {
 public:
  /// The site of an Op node, which stays at its address while the tables live. `reads_result`: the code reads the result's buffer or sizes.
  size_t op_site(const ir::Node&, const ops::OpDef&, bool reads_result);
  size_t constant(const Constant&);
  size_t span(const base::Span&);
  /// The bit of natif_call.rules; UserError past 64 rules.
  size_t rule(const std::string& name);

  /// The four tables, each an array in the unnamed namespace; empty ones are left out.
  void print(Writer&) const;
  /// The initialisers of natif_module's fields from `rules` to `rule_count`, and from `op_sites` on.
  void print_rule_fields(Writer&) const;
  void print_other_fields(Writer&) const;

 private:
  struct OpSite {
    const ir::Node* node;
    const ops::OpDef* op;
    bool reads_result;
    size_t span;
  };

  void print_op_sites(Writer&) const;
  void print_constants(Writer&) const;

  std::vector<OpSite> op_sites_;
  std::map<const ir::Node*, size_t> site_of_node_;
  std::vector<Constant> constants_;
  std::vector<base::Span> spans_;
  std::vector<std::string> rules_;
};

}  // namespace natif::codegen
