// runtime/preparation.cpp: from a function that has only been claimed to one that runs: asks the provider for the artifact, finds the entry
// and matches its parameters with the Python signature.
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>

#include "runtime/native_function.h"

namespace natif::runtime {
namespace {

// One for all functions: builds are rare and the waiting threads look at their own function's stage.
struct Waiting {
  std::mutex mutex;
  std::condition_variable changed;
};
Waiting& waiting() {
  static auto* instance = new Waiting;  // never destroyed: threads may wait while the process exits
  return *instance;
}

bool raise(const FunctionState& state, const char* what, const char* which) {
  PyErr_Format(PyExc_RuntimeError, "natif: the artifact does not fit the function '%s': %s%s; build it again", state.name.c_str(), what,
               which);
  return false;
}

bool match_parameters(NativeFunction& self) {
  FunctionState& state = *self.state;
  int arguments = 0;
  for (int i = 0; i < state.function->parameter_count; ++i) {
    const natif_value_type& type = state.function->parameters[i];
    PyObject* bound = self.bound == nullptr ? nullptr : PyDict_GetItemString(self.bound, type.name);
    const int argument = state.signature.find(type.name);
    if (type.hidden) {
      state.sources.push_back({ParameterSource::Kind::kGlobal, 0, Ref(PyUnicode_InternFromString(type.name))});
    } else if (bound != nullptr) {
      state.sources.push_back({ParameterSource::Kind::kBound, 0, Ref::borrow(bound)});
    } else if (argument >= 0) {
      state.sources.push_back({ParameterSource::Kind::kArgument, argument, Ref()});
      ++arguments;
    } else {
      return raise(state, "it has no parameter ", type.name);
    }
  }
  return arguments == state.signature.count() || raise(state, "it has other parameters", "");
}

// Each axis with a number below -1 with the first one of that number.
void find_shared_sizes(FunctionState& state) {
  std::map<int64_t, std::pair<int, int>> first;
  for (int i = 0; i < state.function->parameter_count; ++i) {
    const natif_value_type& type = state.function->parameters[i];
    for (int axis = 0; type.kind == NATIF_TENSOR && type.dims != nullptr && axis < type.rank; ++axis) {
      if (type.dims[axis] >= -1) continue;
      const auto [place, is_first] = first.try_emplace(type.dims[axis], i, axis);
      if (!is_first) state.shared_sizes.push_back({i, axis, place->second.first, place->second.second});
    }
  }
}

bool expect_dict(const FunctionState& state, PyObject* object, const char* what) {
  return PyDict_Check(object) || raise(state, what, " answers no dict");
}

// The module's names, and which of them were compiled in.
bool read_names(NativeFunction& self) {
  FunctionState& state = *self.state;
  state.globals = Ref(PyObject_CallMethod(self.provider, "hidden", "O", self.name));
  if (!state.globals || !expect_dict(state, state.globals.get(), "provider.hidden()")) return false;
  const bool guarded = PyObject_HasAttrString(self.provider, "guards") != 0;
  Ref constants(guarded ? PyObject_CallMethod(self.provider, "guards", "O", self.name) : PyDict_New());
  if (!constants || !expect_dict(state, constants.get(), "provider.guards()")) return false;
  std::set<std::string> inputs;
  for (int i = 0; i < state.function->parameter_count; ++i) {
    if (state.function->parameters[i].hidden) inputs.insert(state.function->parameters[i].name);
  }
  return state.names.read(self.python, state.globals.get(), constants.get(), std::move(inputs));
}

bool load(NativeFunction& self) {
  FunctionState& state = *self.state;
  state.signature = Signature();  // of an attempt that was interrupted
  state.sources.clear();
  state.shared_sizes.clear();
  if (!state.signature.read(self.python, self.bound)) return false;
  state.artifact = Ref(PyObject_CallMethod(self.provider, "artifact", "O", self.name));
  if (!state.artifact) return false;
  if (!is_artifact(state.artifact.get())) return raise(state, "provider.artifact() answers no Artifact", "");
  const auto& artifact = *reinterpret_cast<Artifact*>(state.artifact.get());
  state.function = find_function(*artifact.module, state.name);
  if (state.function == nullptr) return raise(state, "it has no function of that name", "");
  state.entry = entry_of(artifact, *state.function);
  if (state.entry == nullptr) return raise(state, "it has no code for the vector level ", artifact.module->levels[artifact.level]);
  state.known = std::vector<KnownTensor>(static_cast<size_t>(state.function->parameter_count));
  find_shared_sizes(state);
  if (!match_parameters(self)) return false;
  state.bound.bound.clear();
  for (const ParameterSource& source : state.sources) state.bound.bound.push_back(source.kind == ParameterSource::Kind::kBound);
  return read_names(self);
}

void wait_for_builder(FunctionState& state) {
  while (state.stage == FunctionState::Stage::kBuilding) {
    Py_BEGIN_ALLOW_THREADS;
    {
      std::unique_lock lock(waiting().mutex);
      waiting().changed.wait_for(lock, std::chrono::milliseconds(20));  // the stage is guarded by the GIL, not by this lock
    }
    Py_END_ALLOW_THREADS;
  }
}

}  // namespace

bool prepare(NativeFunction& self) {
  FunctionState& state = *self.state;
  if (state.stage == FunctionState::Stage::kBuilding) {
    if (state.builder == std::this_thread::get_id()) return false;
    wait_for_builder(state);
  }
  if (state.stage != FunctionState::Stage::kUnbuilt) return state.stage == FunctionState::Stage::kReady;
  state.stage = FunctionState::Stage::kBuilding;
  state.builder = std::this_thread::get_id();
  const bool loaded = load(self);
  if (!loaded) state.error = take_error();
  // Ctrl-C during a build ends the call, not the function: the next call builds again.
  const bool interrupted = !loaded && !PyErr_GivenExceptionMatches(state.error.get(), PyExc_Exception);
  state.stage = loaded ? FunctionState::Stage::kReady : interrupted ? FunctionState::Stage::kUnbuilt : FunctionState::Stage::kUnavailable;
  waiting().changed.notify_all();
  return loaded;
}

bool report_unavailable(NativeFunction& self) {
  FunctionState& state = *self.state;
  if (state.stage == FunctionState::Stage::kUnbuilt || state.keeps_python_strictly()) {
    PyException_SetTraceback(state.error.get(), Py_None);
    set_error(state.error);
    return false;
  }
  Ref text(PyUnicode_FromFormat("%S; '%s' runs in Python", state.error.get(), state.name.c_str()));
  if (!text) return false;
  if (!PyObject_HasAttrString(self.provider, "unavailable"))
    return PyErr_WarnEx(PyExc_RuntimeWarning, PyUnicode_AsUTF8(text.get()), 1) == 0;
  return static_cast<bool>(Ref(PyObject_CallMethod(self.provider, "unavailable", "OO", self.name, state.error.get())));
}

}  // namespace natif::runtime
