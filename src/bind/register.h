// src/bind/register.h: what each source of this folder adds to the module natif._compiler.
#pragma once

#include <nanobind/nanobind.h>

namespace natif::bind {

/// claim_module(): the verdict on every function of a source file.
void register_claims(nanobind::module_&);

/// ModulePlan and compile_module(): from claims to generated C++.
void register_compile(nanobind::module_&);

/// evaluated_module() and normal_graph(): the graph evaluator and the graph's text form.
void register_eval(nanobind::module_&);

/// registry() and diagnostics(): what docs, tests and the capability manifest derive from.
void register_registry(nanobind::module_&);

/// run_pass(): single passes on graphs in text form.
void register_passes(nanobind::module_&);

}  // namespace natif::bind
