// runtime/watched_names.h: the names that a function's code was compiled from: those of its module (TensorFlow under the user's alias,
// native functions that were inlined, constants), of Python's builtins, and of TensorFlow's modules (`nn` and `relu` of `tf.nn.relu`). When
// one of them holds something else (a test replaces tf.nn.relu, a module sets its AXIS anew), the Python body is what must run.
//
// It costs one comparison for each dictionary at a call: CPython gives a dictionary another version whenever a key or value of it changes,
// and only then the names are looked at.
#ifndef NATIF_RUNTIME_WATCHED_NAMES_H_
#define NATIF_RUNTIME_WATCHED_NAMES_H_

#include <set>
#include <string>
#include <vector>

#include "runtime/python.h"

namespace natif::runtime {

class WatchedNames {
 public:
  // Reads the names of a Python function whose module-level names are in `globals`. `constants` maps names that were compiled in to what
  // they have to hold: numbers, lists of numbers, or functions, whose own names are watched too. `inputs` are names that are read anew at
  // each call, whatever they hold. False: an error is set.
  bool read(PyObject* python, PyObject* globals, PyObject* constants, std::set<std::string> inputs);

  // Whether every name holds what it held: 1 or 0, -1 with an error set.
  int hold();

  int visit(visitproc visit, void* arg) const;

 private:
  struct Name {
    Ref name;
    Ref value;  // empty: there must be no such name
  };
  struct Dictionary {
    Ref dict;
    uint64_t version = 0;  // at which all names held; 0 is no dictionary's version
    std::vector<Name> names;
    bool has_lists = false;  // which change without the dictionary noticing
  };

  bool read_again();
  bool read_code(PyObject* python);
  bool read_global(PyObject* name, PyObject* all_names);
  bool read_module(PyObject* module, PyObject* names);
  void watch(PyObject* dict, PyObject* name, PyObject* value);
  bool is_watched(PyObject* dict, PyObject* name) const;
  static int hold(const Dictionary& dictionary);

  Ref python_, globals_, constants_;
  std::set<std::string> inputs_;
  std::vector<Dictionary> dictionaries_;
  std::vector<PyObject*> functions_;  // whose code has been read
  bool foreign_ = false;              // a name held something that the code can not have been compiled from when it was read
};

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_WATCHED_NAMES_H_
