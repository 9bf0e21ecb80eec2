// src/front/graph_builder.h: appends nodes to the region that is being built, with the span and site that are current, and remembers which
// values are numbers written in the source.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ops/op_def.h"

namespace natif::front {

class GraphBuilder : public ops::NodeBuilder {
 public:
  ir::Function function;

  ir::Value op(std::string_view op, std::span<const ir::Value> operands, ir::Type result, ir::Attributes attributes) override;
  const ir::Type& type(ir::Value value) const override { return function.type(value); }

  /// A number: bool, int64_t or double.
  ir::Value literal(const ops::Literal& number);
  ir::Value scalar(ir::ScalarOp op, std::vector<ir::Value> operands, ir::Type result);
  ir::Value to_tensor(ir::Value number, ir::DType dtype);
  ir::Value dimension(ir::Value tensor, int axis);
  /// The number as a Python int, float or bool; the value itself where it is one.
  ir::Value as_int(ir::Value number);
  ir::Value as_float(ir::Value number);
  ir::Value as_bool(ir::Value number);

  /// Appends a node with regions, or a terminator, as it is.
  void append(ir::Node node);
  /// Appends a node that has its own span and site already.
  void append_as_is(ir::Node node) { region_->nodes.push_back(std::move(node)); }
  void terminate(ir::NodeKind kind, std::vector<ir::Value> operands);

  /// The number that a value is, where it is written in the source; null otherwise.
  const ops::Literal* known(ir::Value value) const;

  /// Sets where nodes come from until the object goes.
  class At {
   public:
    At(GraphBuilder& builder, base::Span span, int site = -1) : builder_(builder), span_(builder.span_), site_(builder.site_) {
      builder.span_ = span;
      builder.site_ = site;
    }
    ~At() {
      builder_.span_ = span_;
      builder_.site_ = site_;
    }
    At(const At&) = delete;
    At& operator=(const At&) = delete;

   private:
    GraphBuilder& builder_;
    base::Span span_;
    int site_;
  };

  /// Appends to `region` until the object goes.
  class Inside {
   public:
    Inside(GraphBuilder& builder, ir::Region& region) : builder_(builder), outer_(builder.region_) { builder.region_ = &region; }
    ~Inside() { builder_.region_ = outer_; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    GraphBuilder& builder_;
    ir::Region* outer_;
  };

  /// Forgets the values from `count` on, whose nodes the caller has dropped.
  void rewind(size_t count);

 private:
  ir::Value append_one(ir::Node node, ir::Type result);

  ir::Region* region_ = nullptr;
  base::Span span_;
  int site_ = -1;
  std::map<ir::Value, ops::Literal> known_;
};

}  // namespace natif::front
