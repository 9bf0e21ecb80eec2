// runtime/self_check.cpp: the outcomes, where they come from (forced, known in this process, remembered on disk, or found now by
// comparing), and their Python view.
#include "runtime/self_check.h"

#include <cstdlib>
#include <map>
#include <string>

namespace natif::runtime {
namespace {

struct Outcomes {
  uint64_t version = 1;
  std::map<std::string, bool, std::less<>> found;
  std::map<std::string, bool, std::less<>> forced;
};

// NATIF_FORCE_RULES=exp=0,matmul=1 forces outcomes from outside, "all" those that are not named.
void read_environment(Outcomes& outcomes) {
  const char* text = getenv("NATIF_FORCE_RULES");
  std::string list = text == nullptr ? "" : text;
  while (!list.empty()) {
    const std::string item = list.substr(0, list.find(','));
    list.erase(0, item.size() + 1);
    const size_t equals = item.find('=');
    if (equals != std::string::npos) outcomes.forced[item.substr(0, equals)] = item.substr(equals + 1) == "1";
  }
}

Outcomes& outcomes() {
  static Outcomes instance = [] {
    Outcomes fresh;
    read_environment(fresh);
    return fresh;
  }();
  return instance;
}

// -1: not forced.
int forced(std::string_view rule) {
  const auto& all = outcomes().forced;
  auto entry = all.find(rule);
  if (entry == all.end()) entry = all.find("all");
  return entry == all.end() ? -1 : entry->second;
}

PyObject* py_self_check(PyObject*, PyObject*) {
  Ref result(PyDict_New());
  for (const auto& [rule, holds] : outcomes().found) {
    if (!result || PyDict_SetItemString(result.get(), rule.c_str(), holds ? Py_True : Py_False) < 0) return nullptr;
  }
  for (const auto& [rule, holds] : outcomes().forced) {
    if (!result || PyDict_SetItemString(result.get(), rule.c_str(), holds ? Py_True : Py_False) < 0) return nullptr;
  }
  return result.release();
}

PyObject* py_force_rule(PyObject*, PyObject* args) {
  const char* rule;
  PyObject* outcome;
  if (!PyArg_ParseTuple(args, "sO", &rule, &outcome)) return nullptr;
  const int truth = outcome == Py_None ? -1 : PyObject_IsTrue(outcome);
  if (truth == -1 && PyErr_Occurred()) return nullptr;
  force_rule(rule, truth);
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"self_check", py_self_check, METH_NOARGS,
     "self_check()\n--\n\n{rule: bool}: whether natif's kernels give TensorFlow's bits on this machine, for each rule decided so far."},
    {"force_rule", py_force_rule, METH_VARARGS,
     "force_rule(rule, outcome)\n--\n\nFor tests: forces an outcome (True, False), or lets the check decide (None). \"all\": every rule."},
    {}};

}  // namespace

uint64_t rules_version() { return outcomes().version; }

uint64_t known_rules(const natif_module& module) {
  uint64_t bits = 0;
  for (int i = 0; i < module.rule_count; ++i) {
    const int by_force = forced(module.rules[i]);
    const auto found = outcomes().found.find(module.rules[i]);
    const bool holds = by_force >= 0 ? by_force == 1 : found != outcomes().found.end() && found->second;
    bits |= uint64_t{holds} << i;
  }
  return bits;
}

void force_rule(const char* rule, int outcome) {
  ++outcomes().version;
  if (outcome < 0) {
    outcomes().forced.erase(rule);
  } else {
    outcomes().forced[rule] = outcome == 1;
  }
}

bool add_self_check(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace natif::runtime
