// src/front/annotations.h: annotations as types. Markers are recognised by where their name was imported from, so nothing is imported;
// strings (quoted or postponed annotations) are parsed by the interpreter's own parser.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "front/module_scope.h"
#include "ir/type.h"

namespace natif::front {

/// Whether the markers come from this module: natif.types, or rextio_tensorflow.types, whose sources compile unchanged.
bool is_marker_module(const std::string& path);
/// The names of all markers: "Tensor", "TensorF32Cpu0D", ….
const std::vector<std::string>& marker_names();

/// The type that an annotation names; nullopt, with a reason such as "is annotated with what natif does not know", for anything else.
/// `size_names` gets a tensor's names of sizes where they are written out: one an axis, "" where it has none.
std::optional<ir::Type> read_annotation(const Syntax& annotation, const ModuleScope&, std::string& reason,
                                        std::vector<std::string>* size_names = nullptr);

/// The types of a result's annotation: one type, or those of a `tuple[A, B]`.
struct ResultAnnotation {
  std::vector<ir::Type> types;
  bool tuple = false;
};
std::optional<ResultAnnotation> read_result_annotation(const Syntax& annotation, const ModuleScope&, std::string& reason);

}  // namespace natif::front
