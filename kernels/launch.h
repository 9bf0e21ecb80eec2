// How an emitted kernel runs its rows: at once, or split over the host's threads when the work is worth it; with scratch memory for one
// block of rows a thread; and what it asks about run-time sizes before.
#pragma once

#include "kernels/artifact.h"
#include "kernels/cost.h"
#include "kernels/operands.h"
#include "kernels/vec.h"

namespace natif::kernels {
namespace {

// A size that several axes have in common, some of which may be 1 and broadcast: the first that is not 1.
[[maybe_unused]] inline int64_t broadcast_size(int64_t size) { return size; }
template <class... Sizes>
[[maybe_unused]] inline int64_t broadcast_size(int64_t size, Sizes... more) {
  return size != 1 ? size : broadcast_size(more...);
}

// The product of the leading axes.
[[maybe_unused]] inline int64_t rows_of(const natif_tensor& tensor, int32_t leading) {
  int64_t rows = 1;
  for (int32_t axis = 0; axis < leading; ++axis) rows *= tensor.dims[axis];
  return rows;
}

// How an operand of a block of [rows, width] is read whose axes may be 1 and broadcast; false where only some of its leading axes are.
[[maybe_unused]] inline bool stride_over(const natif_tensor& tensor, int32_t leading, int64_t rows, int64_t width, Strided& strided) {
  const int64_t own_rows = rows_of(tensor, leading), own_width = leading < tensor.rank ? tensor.dims[leading] : 1;
  strided = {static_cast<const float*>(tensor.data), own_rows == 1 && rows != 1 ? 0 : own_width, own_width == 1 && width != 1};
  return own_rows == rows || own_rows == 1;
}

// Eager cuts an op with a broadcast operand into runs with a tail each when its result is larger than this: whether the last n mod 8
// elements of the whole are its only tail.
[[maybe_unused]] inline bool has_one_tail(int64_t rows, int64_t width) {
  constexpr int64_t longest_run = 13913;
  return rows * width <= longest_run || (width % 8 == 0 && width <= longest_run);
}

// A Python number as an element; false where the conversion is TensorFlow's to refuse.
[[maybe_unused]] inline bool to_element(double number, float& element) {
  element = scalar::to_float32(number);
  return !__builtin_isinf(element) || __builtin_isinf(number);
}
[[maybe_unused]] inline bool to_element(int64_t number, float& element) {
  element = scalar::to_float32(number);
  return true;
}
[[maybe_unused]] inline bool to_element(bool, float&) { return false; }

[[maybe_unused]] inline const float* floats_of(const natif_tensor& tensor) { return static_cast<const float*>(tensor.data); }

// Floats of a buffer that holds `rows` rows of `width`: whole cache lines, and one more, so that buffers that are read and written in step
// do not lie a multiple of 4,096 bytes apart, where the processor takes one's loads to depend on the other's stores.
[[maybe_unused]] constexpr int64_t buffer_floats(int64_t rows, int64_t width) { return ((rows * width + 15) & ~int64_t{15}) + 16; }

// Memory that ends with the call: on the stack where it is little.
class Scratch {
 public:
  // Null: the host has failed.
  void* get(const Session& session, size_t bytes) { return bytes <= sizeof local_ ? local_ : session.host->scratch(session.call, bytes); }

 private:
  alignas(64) unsigned char local_[16384];
};

// Runs `body` over `rows` rows; `work` as in cost.h, for one row. `block` rows are computed at a time.
[[maybe_unused]] inline natif_status run_rows(const Session& session, natif_body body, void* context, int64_t rows, int64_t block,
                                              int64_t work, size_t scratch_bytes) {
  const int64_t grain = parallel_grain(rows, block, work);
  if (grain < rows) {
    const FlushDenormals flush;
    return session.host->parallel_for(session.call, rows, grain, body, context, scratch_bytes);
  }
  Scratch scratch;
  void* memory = scratch.get(session, scratch_bytes);
  if (!memory) return NATIF_FAILED;
  const FlushDenormals flush;
  body(context, 0, rows, memory);
  return NATIF_OK;
}

}  // namespace
}  // namespace natif::kernels
