// The extension module natif_bench: its table of functions.
#include "functions.h"
#include "wheel.h"

namespace {

using natif::bench::fma_peak;
using natif::bench::handwritten_probabilities;
using natif::bench::handwritten_score;
using natif::bench::has_handwritten;
using natif::bench::new_program;
using natif::bench::open_wheel;
using natif::bench::run_program;

PyCFunction fast(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef methods[] = {{"open_wheel", open_wheel, METH_VARARGS, "Binds the loaded TensorFlow images and the eager context."},
                         {"new_program", new_program, METH_VARARGS, "A list of TFE ops to be run in order."},
                         {"run_program", fast(run_program), METH_FASTCALL, "Runs a program on tensors."},
                         {"has_handwritten", has_handwritten, METH_NOARGS, "Whether the hand-written kernel runs on this processor."},
                         {"handwritten_score", fast(handwritten_score), METH_FASTCALL, "The hand-written scoring function."},
                         {"handwritten_probabilities", fast(handwritten_probabilities), METH_FASTCALL, "Its probabilities."},
                         {"fma_peak", fma_peak, METH_VARARGS, "The core's float32 FMA peak in GFLOP/s, measured for the given seconds."},
                         {}};

PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "natif_bench", "Native parts of natif's benchmark.", -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_natif_bench() { return PyModule_Create(&module); }
