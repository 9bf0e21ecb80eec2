// src/passes/control_flow.h: what a node of control flow is to the stretch of nodes around it: the values it reads, and whether its regions
// can run inside a kernel, where only Python numbers steer.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace natif::passes {

bool owns_regions(const ir::Node&);

/// Whether an op runs in the node's regions, or a tensor passes through it.
bool handles_tensors(const ir::Node&, const ir::Function&);

/// The values from outside of the node that it or its regions read, in order of the first reading.
std::vector<ir::Value> values_read(const ir::Node&);

/// The values that are defined in the node's regions, and its results.
std::set<ir::Value> values_made(const ir::Node&);

/// Why the node's regions can't be part of what surrounds it as if they were straight code; empty where they can.
std::string obstacle_in(const ir::Node&);

/// "for", "while" or "if", as the reader wrote it.
std::string statement_name(const ir::Node&);

/// Whether a node of a kernel counts as a place (Segment::place): ops, control flow and the ends of regions do, numbers don't.
bool has_place(const ir::Node&);

}  // namespace natif::passes
