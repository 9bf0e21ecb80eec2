// src/codegen/values.h: how the values of a function appear in its C++: their names and storage, and when the reference to a tensor ends.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "codegen/writer.h"
#include "ir/graph.h"

namespace natif::codegen {

/// What holds a value in the emitted code.
enum class Storage : uint8_t {
  Number,    // int64_t, double or bool
  Borrowed,  // const natif_tensor&: a parameter or a constant
  Owned,     // Tensor
};

/// "v12_hidden"
Code name_of(const ir::Function&, ir::Value);
/// "int64_t"
Code number_type(const ir::Type&);

/// The tensors whose buffer or sizes the emitted code reads, by itself or in a kernel; those that flow into them by control flow are
/// included.
std::set<ir::Value> values_read(const ir::Function&);

/// For each node of a region, the values that are used last in it (nested regions included).
std::vector<std::vector<ir::Value>> last_uses(const ir::Region&);

/// Whether some node of the region, nested ones included, runs an op or a kernel.
bool runs_ops(const ir::Region&);

}  // namespace natif::codegen
