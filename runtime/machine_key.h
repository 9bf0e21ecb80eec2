// runtime/machine_key.h: everything that was seen to change the bits of TensorFlow's results, as one text: CPU features and microcode, the
// TensorFlow wheel, the C library, the number of intra-op threads, every TF_*, ONEDNN_* and DNNL_* variable; and this runtime's own build.
#ifndef NATIF_RUNTIME_MACHINE_KEY_H_
#define NATIF_RUNTIME_MACHINE_KEY_H_

#include <cstdint>
#include <string>

namespace natif::runtime {

// `tensorflow_root` is the package's folder; `threads` TensorFlow's effective intra-op setting.
std::string machine_key(const std::string& tensorflow_root, int threads);

// FNV-1a, for names of files; the file holds the whole key.
uint64_t hash_of(const std::string& text);

}  // namespace natif::runtime

#endif  // NATIF_RUNTIME_MACHINE_KEY_H_
