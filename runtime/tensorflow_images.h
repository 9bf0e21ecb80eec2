// runtime/tensorflow_images.h: finds the shared objects of the TensorFlow wheel that this process has already loaded, and resolves the
// functions of tensorflow_api.h from them. Nothing new is ever loaded (RTLD_NOLOAD), and each symbol must come from the image that is
// known to define it. All facts that the checks depend on are in Installation, so that tests can state others.
#ifndef NATIF_RUNTIME_TENSORFLOW_IMAGES_H_
#define NATIF_RUNTIME_TENSORFLOW_IMAGES_H_

#include <string>

#include "runtime/tensorflow_api.h"

namespace natif::runtime {

// What the process looks like to the checks.
struct Installation {
  std::string root;             // the folder of the tensorflow package
  std::string version;          // tensorflow.__version__
  std::string library_version;  // what TF_Version() answers; empty: ask it
  std::string implementation;   // sys.implementation.name
  std::string python;           // "3.11"
  std::string machine;          // as uname names it
  std::string missing_symbol;   // a symbol to be treated as absent; tests only
  std::string foreign_symbol;   // a symbol to be treated as defined by another image; tests only
};

// The imported tensorflow package's facts; imports it if need be. False: an error is set.
bool read_installation(Installation& installation);

// The path of the image, below the package, that holds the private bridge between Python and C++ in this version; null: unknown version.
const char* bridge_image(const std::string& tensorflow_version);

// Fills `api`. False: a RuntimeError is set that names the failed check and its remedy.
bool open_tensorflow(const Installation& installation, TensorFlowApi& api);

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_TENSORFLOW_IMAGES_H_
