// runtime/native_function.h: the Python type `natif._runtime.NativeFunction`: a function that runs its artifact's code, or its Python body
// where that must be. It is made by natif itself:
//
//   NativeFunction(python, provider, name, options)
//
// `python` is the function as written, `name` its __qualname__ in the artifact. `provider` is any object with these methods:
//
//   artifact(name) -> Artifact       at the first call that may run natively; may take seconds; an exception makes the function stay Python
//   hidden(name) -> dict             the module's globals, where hidden inputs are read
//   guards(name) -> dict             optional: module-level names that were compiled in, with the values that they have to hold
//   report(name), source(name, kind), bind(function, tensors)
//   unavailable(name, exception)     optional: called once instead of warning, when the function has to stay Python
//
// `options` is a dict: mode ("auto", "native", "python"), on_mismatch ("raise", "fallback"), require (bool), bound (dict of tensors, by
// parameter name, that the calls do not pass), origin (the function that bind() was called on), and what else the provider keeps there.
#ifndef NATIF_RUNTIME_NATIVE_FUNCTION_H_
#define NATIF_RUNTIME_NATIVE_FUNCTION_H_

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "runtime/artifact.h"
#include "runtime/bound_tensors.h"
#include "runtime/guards.h"
#include "runtime/known_tensor.h"
#include "runtime/signature.h"
#include "runtime/watched_names.h"

namespace natif::runtime {

// Where a native parameter's value comes from at each call.
struct ParameterSource {
  enum class Kind { kArgument, kGlobal, kBound } kind;
  int argument = 0;  // index in the signature
  Ref object;        // the global's name, or the bound tensor
};

// Two axes of tensor parameters whose sizes are the same in every call.
struct SharedSize {
  int parameter, axis, first, first_axis;
};

// The function's state. It changes only with the GIL.
struct FunctionState {
  enum class Stage { kUnbuilt, kBuilding, kReady, kUnavailable };
  enum class Mode { kAuto, kNative, kPython };

  std::string name;
  Mode mode = Mode::kAuto;
  bool require = false;
  bool fallback = false;  // on_mismatch="fallback"

  Stage stage = Stage::kUnbuilt;
  std::thread::id builder;
  Ref error;     // why it is unavailable
  Ref artifact;  // Artifact
  const natif_function* function = nullptr;
  natif_entry entry = nullptr;
  Signature signature;
  std::vector<ParameterSource> sources;  // of function->parameters
  std::vector<KnownTensor> known;        // likewise
  BoundTensors bound;                    // likewise
  std::vector<SharedSize> shared_sizes;  // of function->parameters
  Ref globals;                           // where kGlobal names are read
  WatchedNames names;                    // that the code was compiled from

  std::array<uint64_t, static_cast<size_t>(Reason::kCount)> python_calls{};
  uint64_t native_calls = 0;
  bool warned_of_bug = false;

  // Calls whose arguments have at least this many bytes release the GIL: learnt from the time that calls took. At first all do.
  int64_t release_from = 0;

  bool keeps_python_strictly() const { return mode == Mode::kNative || require; }
};

struct NativeFunction {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* dict;
  PyObject* weak_references;
  PyObject* python;
  PyObject* provider;
  PyObject* name;
  PyObject* options;
  PyObject* bound;  // a dict, or null
  FunctionState* state;
};

bool add_native_function_type(PyObject* module);
bool is_native_function(PyObject* object);

// native_call.cpp: what calling the object does.
PyObject* call_native_function(PyObject* self, PyObject* const* args, size_t args_and_flag, PyObject* keyword_names);

// preparation.cpp: makes an unbuilt function ready, once, however many threads ask; others wait without the GIL. True: it is kReady.
// False: it is kUnavailable, or (then the stage is kBuilding) this thread is building it; no error is set.
bool prepare(NativeFunction& self);
// Tells about a function that has to stay Python: raises (false) under mode "native" or require, else warns once through the provider.
bool report_unavailable(NativeFunction& self);

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_NATIVE_FUNCTION_H_
