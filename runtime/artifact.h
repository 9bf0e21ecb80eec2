// runtime/artifact.h: a loaded artifact, the Python type `natif._runtime.Artifact`.
//
// - Artifact(path, max_level=None): opens the shared object; RuntimeError when it is no artifact, of another ABI version, or for other CPUs
// - Artifact.of_module(capsule): a natif_module that is in memory already, such as the graph evaluator's; its only level runs anywhere
// - .path, .name, .source_file: strings; the path is None for a module in memory
// - .level: the vector level chosen, the highest that this CPU runs, at most max_level
// - .functions, .rules: tuples of names
//
// An artifact's code stays loaded until the process ends: caches of the eager context and running calls hold addresses inside it.
#ifndef NATIF_RUNTIME_ARTIFACT_H_
#define NATIF_RUNTIME_ARTIFACT_H_

#include <string_view>

#include "runtime/abi.h"
#include "runtime/python.h"

namespace natif::runtime {

struct Artifact {
  PyObject_HEAD PyObject* path;
  const natif_module* module;
  int level;               // index into module->levels
  uint64_t rules;          // bit i: rule i is proven here
  uint64_t rules_version;  // the rules_version() at which `rules` was found; 0: never
};

// Adds the type to the module. False: an error is set.
bool add_artifact_type(PyObject* module);
bool is_artifact(PyObject* object);

// The function of this __qualname__; null when there is none.
const natif_function* find_function(const natif_module& module, std::string_view name);

// The entry of the highest level up to the artifact's; null when the function has none.
natif_entry entry_of(const Artifact& artifact, const natif_function& function);

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_ARTIFACT_H_
