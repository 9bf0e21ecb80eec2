// Broadcasting over any axes: how operands of a pointwise loop whose shapes are only known at run time lie under the result's rows. The
// axes at the end over which each operand is either whole or one element make the columns, those in front the rows.
#pragma once

#include "kernels/operands.h"
#include "runtime/abi.h"

namespace natif::kernels {
namespace {

// The result's shape: rank sizes, and how they split into rows and columns.
struct BroadcastShape {
  int32_t rank, leading;  // axes; those of them that make the rows
  int64_t dims[NATIF_MAX_RANK];
  int64_t rows, width;
};

struct BroadcastOperand {
  const float* data;
  int64_t strides[NATIF_MAX_RANK];  // elements from one index of each leading axis to the next; 0 where the operand is broadcast
  bool one_column;
};

// The size of `tensor` along the result's axis, 1 on axes in front of its own.
[[maybe_unused]] inline int64_t size_along(const natif_tensor& tensor, const BroadcastShape& shape, int32_t axis) {
  const int32_t own = axis - (shape.rank - tensor.rank);
  return own < 0 ? 1 : tensor.dims[own];
}

// The shape of `count` tensors of at most `rank` axes together; false where they do not fit or hold no element.
[[gnu::noinline, maybe_unused]] bool broadcast_shape(const natif_tensor* const* tensors, int32_t count, int32_t rank,
                                                     BroadcastShape& shape) {
  shape = {.rank = rank, .leading = rank, .dims = {}, .rows = 1, .width = 1};
  for (int32_t axis = 0; axis < rank; ++axis) {
    int64_t size = 1;
    for (int32_t i = 0; i < count; ++i) {
      const int64_t own = size_along(*tensors[i], shape, axis);
      if (own != 1 && size != 1 && own != size) return false;
      if (own != 1) size = own;
    }
    if (size == 0) return false;
    shape.dims[axis] = size;
  }
  // Columns reach back as long as no operand changes between whole and broadcast.
  const auto may_join = [&](int32_t axis) {
    for (int32_t i = 0; i < count; ++i) {
      for (int32_t later = axis + 1; later < rank; ++later) {
        if (shape.dims[later] == 1) continue;
        if ((size_along(*tensors[i], shape, axis) == 1) != (size_along(*tensors[i], shape, later) == 1)) return false;
      }
    }
    return true;
  };
  while (shape.leading > 0 && (shape.dims[shape.leading - 1] == 1 || may_join(shape.leading - 1)))
    shape.width *= shape.dims[--shape.leading];
  for (int32_t axis = 0; axis < shape.leading; ++axis) shape.rows *= shape.dims[axis];
  return true;
}

[[gnu::noinline, maybe_unused]] void broadcast_operand(const natif_tensor& tensor, const BroadcastShape& shape, BroadcastOperand& operand) {
  operand.data = static_cast<const float*>(tensor.data);
  int64_t stride = 1;
  for (int32_t axis = shape.rank - 1; axis >= 0; --axis) {
    const int64_t own = size_along(tensor, shape, axis);
    operand.strides[axis] = own == 1 ? 0 : stride;
    stride *= own;
  }
  int64_t columns = 1;
  for (int32_t axis = shape.leading; axis < shape.rank; ++axis) columns *= size_along(tensor, shape, axis);
  operand.one_column = columns == 1 && shape.width != 1;
}

// Whether these tensors alone have the whole shape together.
[[gnu::noinline, maybe_unused]] bool covers(const natif_tensor* const* tensors, int32_t count, const BroadcastShape& shape) {
  for (int32_t axis = 0; axis < shape.rank; ++axis) {
    bool covered = shape.dims[axis] == 1;
    for (int32_t i = 0; i < count; ++i) covered = covered || size_along(*tensors[i], shape, axis) != 1;
    if (!covered) return false;
  }
  return true;
}

// Where rows [first, first + rows) of the operand begin.
[[gnu::noinline, maybe_unused]] void row_offsets(const BroadcastShape& shape, const BroadcastOperand& operand, int64_t first, int64_t rows,
                                                 int64_t* offsets) {
  int64_t index[NATIF_MAX_RANK] = {}, offset = 0;
  for (int32_t axis = shape.leading - 1; axis >= 0; --axis) {
    index[axis] = first % shape.dims[axis];
    first /= shape.dims[axis];
    offset += index[axis] * operand.strides[axis];
  }
  for (int64_t r = 0; r < rows; ++r) {
    offsets[r] = offset;
    for (int32_t axis = shape.leading - 1; axis >= 0; --axis) {
      offset += operand.strides[axis];
      if (++index[axis] < shape.dims[axis]) break;
      offset -= shape.dims[axis] * operand.strides[axis];
      index[axis] = 0;
    }
  }
}

// Rows of `width` columns that are computed at a time.
[[maybe_unused]] inline int64_t broadcast_block(int64_t rows, int64_t width) {
  constexpr int64_t elements = 4096;
  const int64_t block = width < elements ? elements / width : 1;
  return rows < block ? rows : block;
}

}  // namespace
}  // namespace natif::kernels
