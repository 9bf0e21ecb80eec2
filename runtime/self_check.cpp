// runtime/self_check.cpp: the outcomes and where they come from: forced, found in this process, remembered in a file, or found now.
#include "runtime/self_check.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "runtime/float_state.h"
#include "runtime/machine_key.h"
#include "runtime/rule_checks.h"

namespace natif::runtime {
namespace {

using Table = std::map<std::string, bool, std::less<>>;

struct Outcomes {
  uint64_t version = 1;
  Table found;   // by "rule level"
  Table forced;  // by rule, or "all"
  std::string folder;
  std::string key;  // of this machine; empty: not yet made
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
  const Table& all = outcomes().forced;
  auto entry = all.find(rule);
  if (entry == all.end()) entry = all.find("all");
  return entry == all.end() ? -1 : entry->second;
}

// ---- the file: the key, an empty line, then one outcome a line --------------------------------------------------------------------

std::string memory_path() {
  char name[64];
  snprintf(name, sizeof name, "/self-check-%016llx.txt", static_cast<unsigned long long>(hash_of(outcomes().key)));
  return outcomes().folder + name;
}

// A file that is not whole, or of another key, is as good as none: the checks run again.
void recall() {
  std::ifstream file(memory_path(), std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  const std::string text = content.str(), head = outcomes().key + "\n";
  if (!text.starts_with(head) || !text.ends_with("end\n")) return;
  std::istringstream lines(text.substr(head.size()));
  std::string rule, level;
  for (bool holds; lines >> rule >> level >> holds;) outcomes().found.emplace(rule + " " + level, holds);
}

// Written aside and renamed, so that no process reads half a file. Where the folder cannot be written the outcomes last for the process.
void remember() {
  const std::string path = memory_path(), aside = path + "." + std::to_string(getpid());
  std::ofstream file(aside, std::ios::binary | std::ios::trunc);
  file << outcomes().key << "\n";
  for (const auto& [rule, holds] : outcomes().found) file << rule << " " << holds << "\n";
  file << "end\n";
  file.close();
  if (!file || rename(aside.c_str(), path.c_str()) != 0) unlink(aside.c_str());
}

void make_key(const TensorFlow& tf, const EagerContext& context) {
  Ref threads(PyObject_GetAttrString(context.python.get(), "intra_op_parallelism_threads"));
  const long setting = threads ? PyLong_AsLong(threads.get()) : 0;
  PyErr_Clear();
  outcomes().key = machine_key(tf.installation.root, static_cast<int>(setting > 0 ? setting : sysconf(_SC_NPROCESSORS_ONLN)));
  if (!outcomes().folder.empty()) recall();
}

// ---- the Python view ----------------------------------------------------------------------------------------------------------------

bool put(PyObject* result, const std::string& rule, bool holds) {
  PyObject* before = PyDict_GetItemString(result, rule.c_str());
  return PyDict_SetItemString(result, rule.c_str(), holds && before != Py_False ? Py_True : Py_False) == 0;
}

PyObject* py_self_check(PyObject*, PyObject*) {
  Ref result(PyDict_New());
  if (!result) return nullptr;
  for (const auto& [name, holds] : outcomes().found) {
    const std::string rule = name.substr(0, name.find(' '));
    const int by_force = forced(rule);
    if (!put(result.get(), rule, by_force < 0 ? holds : by_force == 1)) return nullptr;
  }
  for (const auto& [rule, holds] : outcomes().forced) {
    if (rule != "all" && !put(result.get(), rule, holds)) return nullptr;
  }
  return result.release();
}

PyObject* py_force_rule(PyObject*, PyObject* args) {
  const char* rule;
  PyObject* outcome;
  if (!PyArg_ParseTuple(args, "sO", &rule, &outcome)) return nullptr;
  const int truth = outcome == Py_None ? -1 : PyObject_IsTrue(outcome);
  if (truth == -1 && PyErr_Occurred()) return nullptr;
  ++outcomes().version;
  if (truth < 0) {
    outcomes().forced.erase(rule);
  } else {
    outcomes().forced[rule] = truth == 1;
  }
  Py_RETURN_NONE;
}

PyObject* py_remember(PyObject*, PyObject* args) {
  PyObject* path;
  if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path)) return nullptr;
  Ref owned(path);
  outcomes().folder = PyBytes_AS_STRING(path);
  if (!outcomes().key.empty()) recall();
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"self_check", py_self_check, METH_NOARGS,
     "self_check()\n--\n\n{rule: bool}: whether natif's kernels give TensorFlow's bits on this machine, for each rule decided so far; a "
     "rule holds if it does at every vector level that was asked for."},
    {"force_rule", py_force_rule, METH_VARARGS,
     "force_rule(rule, outcome)\n--\n\nFor tests: forces an outcome (True, False), or lets the check decide (None). \"all\": every rule."},
    {"remember_self_check", py_remember, METH_VARARGS,
     "remember_self_check(folder)\n--\n\nKeeps outcomes in this folder for later processes on the same machine and installation."},
    {}};

}  // namespace

uint64_t rules_version() { return outcomes().version; }

uint64_t proven_rules(const TensorFlow& tf, const EagerContext& context, const natif_module& module, std::string_view level) {
  uint64_t bits = 0;
  bool learnt = false;
  const FloatState float_state = FloatState::of_thread();
  for (int i = 0; i < module.rule_count; ++i) {
    const std::string_view rule = module.rules[i];
    if (const int by_force = forced(rule); by_force >= 0) {
      bits |= uint64_t{by_force == 1} << i;
      continue;
    }
    if (outcomes().key.empty()) make_key(tf, context);
    const std::string name = std::string(rule) + " " + std::string(level);
    auto found = outcomes().found.find(name);
    if (found == outcomes().found.end()) {
      found = outcomes().found.emplace(name, rule_holds(tf.api, context.handle, rule, level)).first;
      learnt = true;
    }
    bits |= uint64_t{found->second} << i;
  }
  float_state.restore();
  if (learnt && !outcomes().folder.empty()) remember();
  return bits;
}

bool add_self_check(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace natif::runtime
