// runtime/native_call.cpp: what a call of a NativeFunction does, from the arguments to the result: decide, read, run, wrap; and where the
// native way is not open, run the Python body.
#include <algorithm>
#include <cstdlib>
#include <span>

#include "runtime/call.h"
#include "runtime/float_state.h"
#include "runtime/host_table.h"
#include "runtime/native_function.h"
#include "runtime/python_body.h"
#include "runtime/self_check.h"
#include "runtime/tensor_bridge.h"

namespace natif::runtime {
namespace {

struct Arguments {
  PyObject* const* args;
  size_t args_and_flag;
  PyObject* keyword_names;
};

// How the attempt to run natively ended.
struct Attempt {
  enum class Kind { kResult, kRaised, kRunBody } kind;
  PyObject* result = nullptr;
  Reason reason = Reason::kNone;
  Failure failure;  // of reason kFailed

  static Attempt body(Reason reason) { return {Kind::kRunBody, nullptr, reason, {}}; }
  static Attempt raised() { return {Kind::kRaised, nullptr, Reason::kNone, {}}; }
};

// References to the values of one call: a default or a global may be replaced while the GIL is released.
class Values {
 public:
  Values(Arena& arena, int count)
      : count_(count), values_(static_cast<PyObject**>(arena.allocate(sizeof(PyObject*) * static_cast<size_t>(count + 1)))) {}
  ~Values() {
    for (int i = 0; i < held_; ++i) Py_DECREF(values_[i]);
  }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;

  PyObject** data() { return values_; }
  void hold() {
    for (int i = 0; i < count_; ++i) Py_INCREF(values_[i]);
    held_ = count_;
  }

 private:
  int count_;
  int held_ = 0;
  PyObject** values_;
};

// Everything that one native call works on, in the thread's arena.
struct Frame {
  Frame(Call& call, const FunctionState& state)
      : parameters(allocate<natif_slot>(call, state.function->parameter_count)),
        tokens(allocate<TensorObject>(call, state.function->parameter_count)),
        results(allocate<natif_slot>(call, state.function->result_count)),
        tensors(allocate<PyObject*>(call, state.function->parameter_count)) {
    for (int i = 0; results != nullptr && i < state.function->result_count; ++i) results[i].tensor.object = nullptr;
  }

  template <class T>
  static T* allocate(Call& call, int count) {
    return static_cast<T*>(call.thread.arena.allocate(sizeof(T) * static_cast<size_t>(count)));
  }
  bool complete() const { return parameters != nullptr && tokens != nullptr && results != nullptr && tensors != nullptr; }

  natif_slot* parameters;
  TensorObject* tokens;
  natif_slot* results;
  PyObject** tensors;  // the tensor parameters' objects, for the tape
  int tensor_count = 0;
  int64_t bytes = 0;  // of all tensor parameters
};

Attempt mismatch(const NativeFunction& self, const Call& call, Match match, PyObject* value, const natif_value_type& type,
                 TF_Status* status) {
  if (match == Match::kSymbolic) return Attempt::body(Reason::kSymbolic);
  if (self.state->fallback && match != Match::kUnreadable) {
    PyErr_Clear();  // of kRaised; the body meets the value again
    return Attempt::body(Reason::kMismatch);
  }
  set_mismatch_error(call.tf, match, value, type, self.state->name.c_str(), status);
  return Attempt::raised();
}

// Reads an EagerTensor, or recalls what was read of it.
Match read_tensor_parameter(Call& call, const natif_value_type& type, PyObject* value, KnownTensor& known, TensorObject& token,
                            natif_tensor& view) {
  const EagerContext& context = *call.context();
  if (Py_TYPE(value) == call.tf.eager_tensor) {
    TFE_TensorHandle* handle = call.tf.api.handle_of(value);
    if (const natif_tensor* read = known.find(value, handle, &context)) {
      view = *read;
      view.object = &token;
      token = parameter_token(handle, value);
      return Match::kFits;
    }
  }
  const Match match = read_tensor(call.tf, context, value, type, call.thread.status(call.tf.api), token, view);
  if (match == Match::kFits) known.note(value, token.handle, &context, view);
  return match;
}

// Reads the value of parameter i into the frame.
Match read_parameter(Call& call, const natif_value_type& type, PyObject* value, int i, KnownTensor& known, Frame& frame) {
  if (type.kind != NATIF_TENSOR) return read_scalar(call.tf, value, type, frame.parameters[i].scalar);
  natif_tensor& view = frame.parameters[i].tensor;
  // Without a context there can be no eager tensor, unless one was made before a reset.
  if (call.context() == nullptr) {
    if (Py_TYPE(value) != call.tf.eager_tensor) return Match::kNotEager;
    if (!call.ensure_context()) return set_error(std::move(call.failure.exception)), Match::kRaised;
  }
  const Match match = read_tensor_parameter(call, type, value, known, frame.tokens[i], view);
  if (match != Match::kFits) return match;
  int64_t bytes = 4;
  for (int d = 0; d < view.rank; ++d) bytes *= view.dims[d];
  frame.bytes += bytes;
  frame.tensors[frame.tensor_count++] = value;
  return Match::kFits;
}

// Whether the sizes are the same that the annotations give one name; otherwise the error is set, where it is one.
bool fit_together(const FunctionState& state, const Frame& frame) {
  const auto same = [&](const SharedSize& shared) {
    return frame.parameters[shared.parameter].tensor.dims[shared.axis] == frame.parameters[shared.first].tensor.dims[shared.first_axis];
  };
  const auto other = std::ranges::find_if_not(state.shared_sizes, same);
  if (other == state.shared_sizes.end()) return true;
  if (!state.fallback) {
    set_size_error(state.function->parameters[other->parameter], other->axis, frame.parameters[other->parameter].tensor,
                   state.function->parameters[other->first], other->first_axis, frame.parameters[other->first].tensor);
  }
  return false;
}

// Whether a hidden number still has the type that it was compiled with: unlike an argument, it is not converted.
bool keeps_its_type(const natif_value_type& type, PyObject* value) {
  if (!type.hidden || type.kind == NATIF_TENSOR) return true;
  return type.kind == NATIF_INT ? PyLong_CheckExact(value) : type.kind == NATIF_FLOAT ? PyFloat_CheckExact(value) : PyBool_Check(value);
}

PyObject* wrap_slot(Call& call, const natif_value_type& type, natif_slot& slot) {
  switch (type.kind) {
    case NATIF_TENSOR:
      if (slot.tensor.object != nullptr) return wrap_result(call, *static_cast<TensorObject*>(slot.tensor.object));
      PyErr_SetString(PyExc_RuntimeError, "natif: native code left a result empty");
      return nullptr;
    case NATIF_INT:
      return PyLong_FromLongLong(slot.scalar.i);
    case NATIF_FLOAT:
      return PyFloat_FromDouble(slot.scalar.f);
    default:
      return PyBool_FromLong(slot.scalar.i != 0);
  }
}

PyObject* wrap_results(Call& call, const natif_function& function, natif_slot* slots) {
  if (function.result_count == 0 && !function.tuple) Py_RETURN_NONE;
  if (!function.tuple) return wrap_slot(call, function.results[0], slots[0]);
  Ref tuple(PyTuple_New(function.result_count));
  for (int i = 0; tuple && i < function.result_count; ++i) {
    PyObject* item = wrap_slot(call, function.results[i], slots[i]);
    if (item == nullptr) return nullptr;
    PyTuple_SET_ITEM(tuple.get(), i, item);
  }
  return tuple.release();
}

// Runs the entry, without the GIL where calls of this size have been long, and learns from the time that it took.
natif_status run_entry(FunctionState& state, Call& call, Frame& frame) {
  call.function = state.function;
  call.bound = &state.bound;
  natif_frame c_frame = {frame.parameters, frame.results};
  const FloatState float_state = FloatState::of_thread();
  const natif_host& host = host_table();
  const bool release = frame.bytes >= state.release_from;
  // Calls that are known to be short are looked at now and then only: reading the clock costs as much as a small kernel.
  if (!release && (state.native_calls & 15) != 0) {
    const natif_status status = state.entry(&host, &call, &c_frame);
    float_state.restore();
    if (!call.holds_gil()) call.take_gil();
    return status;
  }
  if (release) call.release_gil();
  const int64_t start = nanoseconds();
  const natif_status status = state.entry(&host, &call, &c_frame);
  const int64_t taken = nanoseconds() - start;
  float_state.restore();
  if (!call.holds_gil()) call.take_gil();
  if (taken >= kLongCall) state.release_from = std::min(state.release_from, frame.bytes);
  if (taken < kLongCall / 2) state.release_from = std::max(state.release_from, frame.bytes + 1);
  return status;
}

// The rules proven for the artifact. Finding out runs TensorFlow's operations, which no tape may see: until then, none is.
uint64_t rules_of(const TensorFlow& tf, const EagerContext* context, Artifact& artifact) {
  const natif_module& module = *artifact.module;
  if (module.rule_count == 0 || artifact.rules_version == rules_version()) return artifact.rules;
  if (context == nullptr || any_tape(tf)) return 0;
  artifact.rules = proven_rules(tf, *context, module, module.levels[artifact.level]);
  artifact.rules_version = rules_version();
  return artifact.rules;
}

Attempt finish(FunctionState& state, Call& call, Frame& frame, natif_status status) {
  if (status == NATIF_DECLINED) return Attempt::body(Reason::kDeclined);
  if (status != NATIF_OK) {
    Attempt attempt = Attempt::body(Reason::kFailed);
    attempt.failure = std::move(call.failure);
    return attempt;
  }
  PyObject* result = wrap_results(call, *state.function, frame.results);
  if (result != nullptr) {
    ++state.native_calls;
    return {Attempt::Kind::kResult, result, Reason::kNone, {}};
  }
  Attempt attempt = Attempt::body(Reason::kFailed);
  call.fail_python();
  attempt.failure = std::move(call.failure);
  attempt.failure.kind = Failure::Kind::kWrapping;
  return attempt;
}

Attempt run_natively(NativeFunction& self, const TensorFlow& tf, EagerContext* context, const Arguments& arguments) {
  FunctionState& state = *self.state;
  auto& artifact = *reinterpret_cast<Artifact*>(state.artifact.get());
  Call call(tf, *artifact.module, ThreadState::of_thread());
  if (context != nullptr && !call.enter_context(context)) return Attempt::raised();
  call.rules = rules_of(tf, context, artifact);
  Values values(call.thread.arena, state.signature.count());
  Frame frame(call, state);
  if (values.data() == nullptr || !frame.complete()) return PyErr_NoMemory(), Attempt::raised();
  if (!state.signature.bind(self.python, arguments.args, PyVectorcall_NARGS(arguments.args_and_flag), arguments.keyword_names,
                            values.data())) {
    return Attempt::body(Reason::kArguments);
  }
  values.hold();
  if (const int hold = state.names.hold(); hold != 1) return hold < 0 ? Attempt::raised() : Attempt::body(Reason::kRebound);
  for (int i = 0; i < state.function->parameter_count; ++i) {
    const ParameterSource& source = state.sources[static_cast<size_t>(i)];
    PyObject* value = source.kind == ParameterSource::Kind::kArgument ? values.data()[source.argument]
                      : source.kind == ParameterSource::Kind::kBound  ? source.object.get()
                                                                      : PyDict_GetItemWithError(state.globals.get(), source.object.get());
    if (value == nullptr) return PyErr_Clear(), Attempt::body(Reason::kMissingName);
    if (!keeps_its_type(state.function->parameters[i], value)) return Attempt::body(Reason::kRebound);
    const Match match = read_parameter(call, state.function->parameters[i], value, i, state.known[static_cast<size_t>(i)], frame);
    if (match != Match::kFits) return mismatch(self, call, match, value, state.function->parameters[i], call.thread.status(tf.api));
  }
  if (!fit_together(state, frame)) return state.fallback ? Attempt::body(Reason::kMismatch) : Attempt::raised();
  if (frame.tensor_count > 0 && any_tape(tf)) {
    const int recorded = recorded_by_tape(tf, {frame.tensors, static_cast<size_t>(frame.tensor_count)});
    if (recorded != 0) return recorded < 0 ? Attempt::raised() : Attempt::body(Reason::kTape);
  }
  return finish(state, call, frame, run_entry(state, call, frame));
}

// Runs natively if that way is open to this function on this thread now; if not, the reason.
Attempt attempt(NativeFunction& self, const Arguments& arguments) {
  FunctionState& state = *self.state;
  if (state.mode == FunctionState::Mode::kPython) return Attempt::body(Reason::kMode);
  if (is_closed()) return Attempt::body(Reason::kShutdown);
  if (state.stage == FunctionState::Stage::kUnavailable) {
    if (state.keeps_python_strictly() && !report_unavailable(self)) return Attempt::raised();
    return Attempt::body(Reason::kUnavailable);
  }
  const TensorFlow* tf = tensorflow();
  if (tf == nullptr) {
    state.error = take_error();
    state.stage = FunctionState::Stage::kUnavailable;
    return report_unavailable(self) ? Attempt::body(Reason::kUnavailable) : Attempt::raised();
  }
  EagerContext* context = known_context(*tf);
  if (context == nullptr && is_initialized(*tf) && (context = acquire_context(*tf)) == nullptr) return Attempt::raised();
  if (const Reason reason = check_thread(*tf, context); reason != Reason::kNone) return Attempt::body(reason);
  const bool was_ready = state.stage == FunctionState::Stage::kReady;
  if (!was_ready && !prepare(self)) {
    if (state.stage == FunctionState::Stage::kBuilding) return Attempt::body(Reason::kBuilding);
    return report_unavailable(self) ? Attempt::body(Reason::kUnavailable) : Attempt::raised();
  }
  // While the function was prepared other threads ran, so the context may be another one by now.
  if (!was_ready) return attempt(self, arguments);
  return run_natively(self, *tf, context, arguments);
}

bool bugs_are_errors(const FunctionState& state) {
  const char* testing = getenv("NATIF_TESTING");
  return state.keeps_python_strictly() || (testing != nullptr && *testing != '\0' && *testing != '0');
}

// The native code failed where the body then succeeded: a bug of natif. An error where it must not go unseen, else one warning.
PyObject* report_bug(NativeFunction& self, const Failure& failure, PyObject* result) {
  FunctionState& state = *self.state;
  Ref owned(result);
  Ref cause = make_exception(failure, *reinterpret_cast<Artifact*>(state.artifact.get())->module, state.name.c_str());
  if (!cause) return nullptr;
  Ref text(PyUnicode_FromFormat("natif: the native code of '%s' failed where its Python body succeeds, which is a bug of natif: %S",
                                state.name.c_str(), cause.get()));
  if (!text) return nullptr;
  if (bugs_are_errors(state)) {
    PyErr_SetObject(PyExc_RuntimeError, text.get());
    Ref error = take_error();
    PyException_SetCause(error.get(), cause.release());
    set_error(std::move(error));
    return nullptr;
  }
  if (!std::exchange(state.warned_of_bug, true) && PyErr_WarnEx(PyExc_RuntimeWarning, PyUnicode_AsUTF8(text.get()), 1) < 0) return nullptr;
  return owned.release();
}

PyObject* run_instead(NativeFunction& self, Attempt attempt, const Arguments& arguments) {
  FunctionState& state = *self.state;
  if (attempt.reason == Reason::kFailed && attempt.failure.is_final()) {
    Ref error = make_exception(attempt.failure, *reinterpret_cast<Artifact*>(state.artifact.get())->module, state.name.c_str());
    if (error) set_error(std::move(error));
    return nullptr;
  }
  const bool runs = attempt.reason != Reason::kArguments;  // with wrong arguments no line of the body runs
  if (runs) ++state.python_calls[static_cast<size_t>(attempt.reason)];
  if (runs && logs_calls()) PySys_FormatStderr("natif: %s: Python, because of %s\n", state.name.c_str(), reason_name(attempt.reason));
  PyObject* result = run_body(self, attempt.reason == Reason::kGraph, arguments.args, arguments.args_and_flag, arguments.keyword_names);
  if (result != nullptr && attempt.reason == Reason::kFailed) return report_bug(self, attempt.failure, result);
  return result;
}

}  // namespace

PyObject* call_native_function(PyObject* object, PyObject* const* args, size_t args_and_flag, PyObject* keyword_names) {
  auto& self = *reinterpret_cast<NativeFunction*>(object);
  const Arguments arguments = {args, args_and_flag, keyword_names};
  Attempt outcome = attempt(self, arguments);
  if (outcome.kind == Attempt::Kind::kRunBody) return run_instead(self, std::move(outcome), arguments);
  if (logs_calls() && outcome.kind == Attempt::Kind::kResult) PySys_FormatStderr("natif: %s: native\n", self.state->name.c_str());
  return outcome.result;
}

}  // namespace natif::runtime
