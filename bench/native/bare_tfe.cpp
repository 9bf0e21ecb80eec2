// A list of ops run through the wheel's TFE C API with nothing around it: the ops are made once and reused (TFE_OpReset), inputs are the
// arguments' own handles, attributes are inferred or left at their defaults wherever TensorFlow does that by itself, intermediates are
// freed after their last use. This is the limit of any lane that runs TensorFlow's own kernels.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "functions.h"
#include "wheel.h"

namespace natif::bench {
namespace {

constexpr char kCapsule[] = "natif_bench.program";
constexpr char kCpu[] =
    "/job:localhost/replica:0/task:0/device:CPU:0";  // named, since leaving the choice to TensorFlow costs 1 to 2 µs an op

struct Step {
  std::string op;
  std::vector<int> inputs;  // slots: the arguments first, then the prepared constants, then one result a step
  bool is_argmax;           // the one op here that needs an attribute (output_type) set
  std::vector<int> freed;   // results that no later step reads
  TFE_Op* reused = nullptr;
};

struct Program {
  Py_ssize_t arguments = 0;
  std::vector<TFE_TensorHandle*> constants;
  std::vector<Step> steps;
  int result = 0;
  std::vector<TFE_TensorHandle*> slots;

  Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    for (TFE_TensorHandle* constant : constants) wheel().delete_handle(constant);
    for (Step& step : steps) {
      if (step.reused != nullptr) wheel().delete_op(step.reused);
    }
  }

  int first_result() const { return static_cast<int>(arguments) + static_cast<int>(constants.size()); }

  void free_slot(int slot) {
    TFE_TensorHandle*& handle = slots[static_cast<size_t>(slot)];
    if (handle != nullptr) wheel().delete_handle(handle);
    handle = nullptr;
  }

  // Hands the result out of its slot and frees whatever is left in the others.
  TFE_TensorHandle* take(int slot) {
    TFE_TensorHandle* const taken = slot < 0 ? nullptr : std::exchange(slots[static_cast<size_t>(slot)], nullptr);
    for (int other = first_result(); other < static_cast<int>(slots.size()); ++other) free_slot(other);
    return taken;
  }
};

TFE_TensorHandle* int32_scalar(int32_t value) {
  TF_Tensor* tensor = new_tensor(kInt32, nullptr, 0, sizeof(value));
  *static_cast<int32_t*>(wheel().tensor_data(tensor)) = value;
  TFE_TensorHandle* handle = wheel().new_handle(tensor, wheel().status);
  wheel().delete_tensor(tensor);
  return handle;
}

bool add_steps(Program& program, PyObject* steps) {
  for (Py_ssize_t i = 0; i < PyList_Size(steps); ++i) {
    const char* op;
    PyObject* inputs;
    if (PyArg_ParseTuple(PyList_GetItem(steps, i), "sO!", &op, &PyTuple_Type, &inputs) == 0) return false;
    Step step{.op = op, .inputs = {}, .is_argmax = std::string(op) == "ArgMax", .freed = {}};
    for (Py_ssize_t k = 0; k < PyTuple_Size(inputs); ++k)
      step.inputs.push_back(static_cast<int>(PyLong_AsLong(PyTuple_GetItem(inputs, k))));
    step.reused = wheel().new_op(wheel().context, op, wheel().status);
    program.steps.push_back(std::move(step));
    if (!ok()) return false;
  }
  return PyErr_Occurred() == nullptr;
}

void destroy(PyObject* capsule) { delete static_cast<Program*>(PyCapsule_GetPointer(capsule, kCapsule)); }

// Notes at each step which results it is the last to read.
void plan_frees(Program& program) {
  for (int slot = program.first_result(); slot < static_cast<int>(program.slots.size()); ++slot) {
    if (slot == program.result) continue;
    const auto reads = [slot](const Step& step) { return std::ranges::find(step.inputs, slot) != step.inputs.end(); };
    const auto last = std::find_if(program.steps.rbegin(), program.steps.rend(), reads);
    if (last != program.steps.rend()) last->freed.push_back(slot);
  }
}

// Runs the steps into their slots; false with a Python error set where one fails.
bool run_steps(Program& program) {
  auto result = static_cast<size_t>(program.first_result());
  for (Step& step : program.steps) {
    wheel().reset_op(step.reused, step.op.c_str(), kCpu, wheel().status);
    for (const int slot : step.inputs) wheel().add_input(step.reused, program.slots[static_cast<size_t>(slot)], wheel().status);
    if (step.is_argmax) wheel().set_type(step.reused, "output_type", kInt64);
    int results = 1;
    wheel().execute(step.reused, &program.slots[result++], &results, wheel().status);
    if (!ok()) return false;
    for (const int slot : step.freed) program.free_slot(slot);
  }
  return true;
}

}  // namespace

PyObject* new_program(PyObject*, PyObject* args) {
  auto program = std::make_unique<Program>();
  PyObject *constants, *steps;
  if (PyArg_ParseTuple(args, "nO!O!i", &program->arguments, &PyTuple_Type, &constants, &PyList_Type, &steps, &program->result) == 0)
    return nullptr;
  for (Py_ssize_t i = 0; i < PyTuple_Size(constants); ++i) {
    program->constants.push_back(int32_scalar(static_cast<int32_t>(PyLong_AsLong(PyTuple_GetItem(constants, i)))));
  }
  if (!add_steps(*program, steps)) return nullptr;
  program->slots.resize(static_cast<size_t>(program->first_result()) + program->steps.size());
  for (size_t i = 0; i < program->constants.size(); ++i)
    program->slots[static_cast<size_t>(program->arguments) + i] = program->constants[i];
  plan_frees(*program);
  PyObject* capsule = PyCapsule_New(program.get(), kCapsule, destroy);
  if (capsule != nullptr) program.release();
  return capsule;
}

PyObject* run_program(PyObject*, PyObject* const* args, Py_ssize_t count) {
  auto* program = count == 0 ? nullptr : static_cast<Program*>(PyCapsule_GetPointer(args[0], kCapsule));
  if (program == nullptr || count != program->arguments + 1) {
    if (PyErr_Occurred() == nullptr) PyErr_SetString(PyExc_TypeError, "takes a program and its tensors");
    return nullptr;
  }
  for (Py_ssize_t i = 0; i < program->arguments; ++i) {
    View view;
    if (!read(args[i + 1], view)) return nullptr;
    program->slots[static_cast<size_t>(i)] = wheel().handle_of(args[i + 1]);
  }
  const bool finished = run_steps(*program), is_argument = program->result < program->arguments;
  TFE_TensorHandle* result = program->take(finished && !is_argument ? program->result : -1);
  if (!finished) return nullptr;
  return is_argument ? Py_NewRef(args[program->result + 1]) : wheel().from_handle(result, false);
}

}  // namespace natif::bench
