// runtime/signature.h: the parameters of a Python function, and binding the arguments of a call to them as CPython does. Wrong arguments
// are left to CPython itself: calling the Python function with them raises its own TypeError before any of its code runs.
#ifndef NATIF_RUNTIME_SIGNATURE_H_
#define NATIF_RUNTIME_SIGNATURE_H_

#include <vector>

#include "runtime/python.h"

namespace natif::runtime {

class Signature {
 public:
  // Reads a Python function's parameters, without those named in `bound` (null or a dict). False: an error is set.
  bool read(PyObject* python, PyObject* bound);

  int count() const { return static_cast<int>(names_.size()); }
  // The position of the parameter called `name`; -1: there is none.
  int find(const char* name) const;
  PyObject* name(int i) const { return names_[i].get(); }
  bool is_keyword_only(int i) const { return i >= positional_; }

  // Fills values[0 … count()) with borrowed references; vectorcall's argument layout. False: the arguments do not fit (no error is set).
  bool bind(PyObject* python, PyObject* const* args, size_t positional, PyObject* keyword_names, PyObject** values) const;

 private:
  int find(PyObject* name) const;
  // The default of parameter i at this moment, borrowed; null: it has none.
  PyObject* default_of(PyObject* python, int i) const;

  std::vector<Ref> names_;
  std::vector<int> places_;  // of each parameter in the Python function's own list
  int positional_only_ = 0;
  int positional_ = 0;         // parameters that may be given by position
  int python_positional_ = 0;  // the same before bound ones were left out
};

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_SIGNATURE_H_
