// src/codegen/emit.h: the C++ of a module: the files that the build driver compiles into one artifact (runtime/abi.h).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "passes/pipeline.h"

namespace natif::codegen {

struct Module {
  std::string name;                              // __name__ of the Python module
  std::string source_file;                       // for tracebacks
  std::vector<std::string> levels = {"native"};  // vector levels from the narrowest up, as in natif_module
};

struct File {
  std::string name;   // "module.cpp"
  std::string level;  // compiled with this level's flags; empty for the one that is the same for all
  std::string text;
};

/// One file where there is one level; otherwise one file a level with the code, and module.cpp with the tables.
std::vector<File> emit(const Module&, std::span<const passes::CompiledFunction>);

}  // namespace natif::codegen
