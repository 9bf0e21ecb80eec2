// runtime/tensorflow_images.cpp: the table of symbols and the checks on the installation, in the order in which they are made.
#include "runtime/tensorflow_images.h"

#include <dlfcn.h>
#include <sys/utsname.h>

#include <array>
#include <cstring>

#include "runtime/platform.h"
#include "runtime/provenance.h"

namespace natif::runtime {
namespace {

enum Image { kBridge, kEager, kFramework, kImageCount };

struct Symbol {
  Image image;
  const char* name;
  size_t offset;  // of the pointer in TensorFlowApi
};

constexpr Symbol kSymbols[] = {
    {kBridge, "_Z22EagerTensor_CheckExactPK7_object", offsetof(TensorFlowApi, is_eager_tensor)},
    {kBridge, "_Z18EagerTensor_HandlePK7_object", offsetof(TensorFlowApi, handle_of)},
    {kBridge, "_Z21EagerTensorFromHandleP16TFE_TensorHandleb", offsetof(TensorFlowApi, tensor_from_handle)},
    {kBridge, "_Z17GetPyEagerContextv", offsetof(TensorFlowApi, python_context)},
    {kBridge, "_ZN10tensorflow30GetEagerContextThreadLocalDataEP7_object", offsetof(TensorFlowApi, thread_state)},
    {kBridge, "_Z21TFE_Py_TapeSetIsEmptyv", offsetof(TensorFlowApi, tape_set_is_empty)},
    {kBridge, "_Z35TFE_Py_TapeSetPossibleGradientTypesP7_object", offsetof(TensorFlowApi, possible_gradient_types)},
    {kEager, "TF_Version", offsetof(TensorFlowApi, version)},
    {kEager, "_ZN10tensorflow16GetCEagerContextEv", offsetof(TensorFlowApi, c_context)},
    {kEager, "TFE_TensorHandleDataType", offsetof(TensorFlowApi, handle_dtype)},
    {kEager, "TFE_TensorHandleNumDims", offsetof(TensorFlowApi, handle_rank)},
    {kEager, "TFE_TensorHandleDim", offsetof(TensorFlowApi, handle_dim)},
    {kEager, "TFE_TensorHandleBackingDeviceName", offsetof(TensorFlowApi, handle_device)},
    {kEager, "TFE_TensorHandleDevicePointer", offsetof(TensorFlowApi, handle_data)},
    {kEager, "TFE_NewTensorHandle", offsetof(TensorFlowApi, new_handle)},
    {kEager, "TFE_TensorHandleCopySharingTensor", offsetof(TensorFlowApi, share_handle)},
    {kEager, "TFE_DeleteTensorHandle", offsetof(TensorFlowApi, delete_handle)},
    {kEager, "TFE_NewOp", offsetof(TensorFlowApi, new_op)},
    {kEager, "TFE_OpReset", offsetof(TensorFlowApi, reset_op)},
    {kEager, "TFE_DeleteOp", offsetof(TensorFlowApi, delete_op)},
    {kEager, "TFE_OpAddInput", offsetof(TensorFlowApi, op_add_input)},
    {kEager, "TFE_OpSetAttrBool", offsetof(TensorFlowApi, op_set_bool)},
    {kEager, "TFE_OpSetAttrInt", offsetof(TensorFlowApi, op_set_int)},
    {kEager, "TFE_OpSetAttrFloat", offsetof(TensorFlowApi, op_set_float)},
    {kEager, "TFE_OpSetAttrType", offsetof(TensorFlowApi, op_set_type)},
    {kEager, "TFE_OpSetAttrString", offsetof(TensorFlowApi, op_set_string)},
    {kEager, "TFE_OpSetAttrIntList", offsetof(TensorFlowApi, op_set_ints)},
    {kEager, "TFE_Execute", offsetof(TensorFlowApi, execute)},
    {kEager, "TFE_ContextGetExecutorForThread", offsetof(TensorFlowApi, thread_executor)},
    {kEager, "TFE_ExecutorIsAsync", offsetof(TensorFlowApi, executor_is_async)},
    {kEager, "TFE_DeleteExecutor", offsetof(TensorFlowApi, delete_executor)},
    {kFramework, "TF_NewStatus", offsetof(TensorFlowApi, new_status)},
    {kFramework, "TF_DeleteStatus", offsetof(TensorFlowApi, delete_status)},
    {kFramework, "TF_SetStatus", offsetof(TensorFlowApi, set_status)},
    {kFramework, "TF_GetCode", offsetof(TensorFlowApi, status_code)},
    {kFramework, "TF_Message", offsetof(TensorFlowApi, status_message)},
    {kFramework, "TF_AllocateTensor", offsetof(TensorFlowApi, allocate_tensor)},
    {kFramework, "TF_TensorData", offsetof(TensorFlowApi, tensor_data)},
    {kFramework, "TF_DeleteTensor", offsetof(TensorFlowApi, delete_tensor)},
};
static_assert(std::size(kSymbols) * sizeof(void*) == sizeof(TensorFlowApi), "every pointer of the table is resolved");

// Where each minor version keeps the bridge; measured on the wheels themselves.
struct Version {
  const char* prefix;
  const char* bridge;
};
constexpr Version kVersions[] = {
    {"2.16.", kPlatform.bridge_until_2_18}, {"2.17.", kPlatform.bridge_until_2_18}, {"2.18.", kPlatform.bridge_until_2_18},
    {"2.19.", kPlatform.bridge_from_2_19},  {"2.20.", kPlatform.bridge_from_2_19},  {"2.21.", kPlatform.bridge_from_2_19},
};

bool fail(const std::string& text) {
  PyErr_SetString(PyExc_RuntimeError, ("natif: " + text).c_str());
  return false;
}

bool read_text(PyObject* object, const char* attribute, std::string& text) {
  Ref value(object == nullptr ? nullptr : PyObject_GetAttrString(object, attribute));
  const char* utf8 = value ? PyUnicode_AsUTF8(value.get()) : nullptr;
  if (utf8 != nullptr) text = utf8;
  return utf8 != nullptr;
}

bool check_interpreter(const Installation& installation) {
  if (installation.implementation != "cpython" || installation.python != "3.11") {
    return fail("this build is for CPython 3.11, not " + installation.implementation + " " + installation.python +
                "; install natif for that interpreter or set NATIF_MODE=python");
  }
  if (installation.machine != kPlatform.machine) {
    return fail("this build is for " + std::string(kPlatform.name) + ", not for " + installation.machine +
                "; install natif for that machine or set NATIF_MODE=python");
  }
  return true;
}

}  // namespace

const char* bridge_image(const std::string& tensorflow_version) {
  for (const Version& version : kVersions) {
    if (tensorflow_version.starts_with(version.prefix)) return version.bridge;
  }
  return nullptr;
}

bool read_installation(Installation& installation) {
  Ref tensorflow(PyImport_ImportModule("tensorflow"));
  std::string file;
  if (!tensorflow || !read_text(tensorflow.get(), "__version__", installation.version) || !read_text(tensorflow.get(), "__file__", file)) {
    return false;
  }
  installation.root = file.substr(0, file.rfind('/'));
  Ref implementation = import_from("sys", "implementation");
  if (!read_text(implementation.get(), "name", installation.implementation)) return false;
  const std::string running = Py_GetVersion();
  installation.python = running.substr(0, running.find('.', 2));
  utsname system;
  installation.machine = uname(&system) == 0 ? system.machine : "an unknown machine";
  return true;
}

bool open_tensorflow(const Installation& installation, TensorFlowApi& api) {
  if (!check_interpreter(installation)) return false;
  const char* bridge = bridge_image(installation.version);
  if (bridge == nullptr) {
    return fail("TensorFlow " + installation.version +
                " is not supported (2.16 to 2.21 are); install one of those, upgrade natif, or set NATIF_MODE=python");
  }
  const std::array<std::string, kImageCount> paths = {installation.root + "/" + bridge, installation.root + "/" + kPlatform.eager,
                                                      installation.root + "/" + kPlatform.framework};
  std::array<void*, kImageCount> images;
  for (int i = 0; i < kImageCount; ++i) {
    images[i] = dlopen(paths[i].c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (images[i] == nullptr) {
      return fail("the library " + paths[i] + " is not loaded, though TensorFlow " + installation.version +
                  " is imported; reinstall the tensorflow or tensorflow-cpu wheel");
    }
  }
  std::array<Provenance, kImageCount> provenance = {Provenance(paths[0]), Provenance(paths[1]), Provenance(paths[2])};
  for (const Symbol& symbol : kSymbols) {
    void* address = symbol.name == installation.missing_symbol ? nullptr : dlsym(images[symbol.image], symbol.name);
    if (address == nullptr) {
      return fail(std::string("TensorFlow ") + installation.version + " lacks the symbol " + symbol.name + " in " + paths[symbol.image] +
                  "; reinstall TensorFlow or upgrade natif");
    }
    if (symbol.name == installation.foreign_symbol || !provenance[symbol.image].holds(address)) {
      return fail(std::string("the symbol ") + symbol.name + " does not come from " + paths[symbol.image] +
                  "; another library of this process interposes it (LD_PRELOAD, or a second TensorFlow)");
    }
    memcpy(reinterpret_cast<char*>(&api) + symbol.offset, &address, sizeof address);
  }
  const std::string library_version = installation.library_version.empty() ? api.version() : installation.library_version;
  if (library_version != installation.version) {
    return fail("tensorflow.__version__ is " + installation.version + " but the loaded library is " + library_version +
                "; reinstall TensorFlow");
  }
  return true;
}

}  // namespace natif::runtime
