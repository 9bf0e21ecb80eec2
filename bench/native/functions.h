// The functions of the benchmark's extension module, each in the file that bears its subject.
#pragma once

#include <Python.h>

namespace natif::bench {

// bare_tfe.cpp
PyObject* new_program(PyObject* self, PyObject* args);                           // (arguments, int32 constants, steps, result) -> program
PyObject* run_program(PyObject* self, PyObject* const* args, Py_ssize_t count);  // (program, *tensors) -> tensor

// handwritten.cpp
PyObject* has_handwritten(PyObject* self, PyObject* ignored);                          // () -> bool
PyObject* handwritten_score(PyObject* self, PyObject* const* args, Py_ssize_t count);  // (x, mean, scale, w1, b1, w2, b2) -> classes
PyObject* handwritten_probabilities(PyObject* self, PyObject* const* args, Py_ssize_t count);

// peak.cpp
PyObject* fma_peak(PyObject* self, PyObject* args);  // (seconds) -> GFLOP/s of one core

}  // namespace natif::bench
