// The hand-written kernel between tensors: reads seven arguments in place, checks their sizes, makes one result.
#include "../handwritten/score.h"
#include "functions.h"
#include "wheel.h"

namespace natif::bench {
namespace {

constexpr Py_ssize_t kArguments = 7;

bool is(const View& view, int64_t rows, int64_t columns = -1) {
  return view.dims[0] == rows && (columns < 0 ? view.rank == 1 : view.rank == 2 && view.dims[1] == columns);
}

bool read_all(PyObject* const* args, Py_ssize_t count, View (&v)[kArguments]) {
  if (count != kArguments) {
    PyErr_SetString(PyExc_TypeError, "takes x, mean, scale, w1, b1, w2, b2");
    return false;
  }
  for (Py_ssize_t i = 0; i < kArguments; ++i) {
    if (!read(args[i], v[i])) return false;
  }
  const bool fits = v[0].rank == 2 && v[0].dims[1] == kFeatures && is(v[1], kFeatures) && is(v[2], kFeatures) &&
                    is(v[3], kFeatures, kHidden) && is(v[4], kHidden) && is(v[5], kHidden, kClasses) && is(v[6], kClasses);
  if (!fits) PyErr_SetString(PyExc_ValueError, "the kernel is written for 32 features, 64 hidden units and 8 classes");
  return fits;
}

void run(const View (&v)[kArguments], int64_t* classes, float* probabilities) {
  score_function()(v[0].data, v[1].data, v[2].data, v[3].data, v[4].data, v[5].data, v[6].data, classes, probabilities, v[0].dims[0]);
}

int64_t* classes_of(TF_Tensor* tensor) { return static_cast<int64_t*>(wheel().tensor_data(tensor)); }

}  // namespace

PyObject* has_handwritten(PyObject*, PyObject*) { return PyBool_FromLong(score_function() != nullptr); }

PyObject* handwritten_score(PyObject*, PyObject* const* args, Py_ssize_t count) {
  View v[kArguments];
  if (!read_all(args, count, v)) return nullptr;
  TF_Tensor* classes = new_tensor(kInt64, v[0].dims, 1, static_cast<size_t>(v[0].dims[0]) * sizeof(int64_t));
  run(v, classes_of(classes), nullptr);
  return wrapped(classes);
}

PyObject* handwritten_probabilities(PyObject*, PyObject* const* args, Py_ssize_t count) {
  View v[kArguments];
  if (!read_all(args, count, v)) return nullptr;
  const int64_t rows = v[0].dims[0], dims[2] = {rows, kClasses};
  TF_Tensor* classes = new_tensor(kInt64, dims, 1, static_cast<size_t>(rows) * sizeof(int64_t));
  TF_Tensor* probabilities = new_tensor(kFloat32, dims, 2, static_cast<size_t>(rows * kClasses) * sizeof(float));
  run(v, classes_of(classes), static_cast<float*>(wheel().tensor_data(probabilities)));
  wheel().delete_tensor(classes);
  return wrapped(probabilities);
}

}  // namespace natif::bench
