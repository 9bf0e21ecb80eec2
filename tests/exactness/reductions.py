"""reduce_sum, reduce_mean, reduce_prod, reduce_max, reduce_min in float32, over any axes. The same with oneDNN on and off.

What runs adjacent elements, columns or both together is in orders.cpp; this is TensorFlow's choice among them (ReductionHelper in
tensorflow/core/kernels/reduction_ops_common.cc).
"""

import math

import numpy as np
from arithmetic import F32, Array, dense, run

OPERATIONS = {"sum": 0, "mean": 0, "prod": 1, "max": 2, "min": 3}


def runs_of_axes(shape: tuple[int, ...], axes: set[int]) -> tuple[bool, list[int]]:
    """Whether the first run is reduced, and the lengths of the runs of adjacent axes that are all reduced or all kept. Leading axes of one
    element are left out; later ones belong to the run before."""
    lengths: list[int] = []
    first = last = False
    for axis, length in enumerate(shape):
        if length == 1:
            continue
        reduced = axis in axes
        if lengths and reduced == last:
            lengths[-1] *= length
        else:
            lengths.append(length)
            first = reduced if len(lengths) == 1 else first
        last = reduced
    return first, lengths


def _call(function: str, operation: int, x: Array, size: int, *arguments: int) -> Array:
    out = np.empty(size, F32)
    run(function, operation, dense(x), out, *arguments)
    return out


def _last_axes(operation: int, x: Array, lengths: list[int], first: bool) -> Array:
    """Four runs or more: transposed, so that the reduced ones come last."""
    kept, reduced = list(range(int(first), len(lengths), 2)), list(range(int(not first), len(lengths), 2))
    rows = math.prod(lengths[i] for i in kept)
    turned = dense(x.reshape(lengths).transpose(kept + reduced))
    return _call("reduce_last", operation, turned, rows, rows, turned.size // rows)


def reduce(name: str, x: Array, axes: list[int], threads: int = 2) -> Array:
    operation, reduced = OPERATIONS[name], {axis % x.ndim for axis in axes}
    shape = [length for axis, length in enumerate(x.shape) if axis not in reduced]
    first, lengths = runs_of_axes(x.shape, reduced)
    if not lengths or (len(lengths) == 1 and not first):
        return x.reshape(shape)  # bit by bit, a mean too
    if len(lengths) == 1:
        out = _call("reduce_all", operation, x, 1, lengths[0], threads)
    elif len(lengths) == 2 and first:
        out = _call("reduce_middle", operation, x, lengths[1], 1, *lengths)
    elif len(lengths) == 2:
        out = _call("reduce_last", operation, x, lengths[0], *lengths)
    elif len(lengths) == 3 and first:
        out = _call("reduce_ends", operation, x, lengths[1], *lengths)
    elif len(lengths) == 3:
        out = _call("reduce_middle", operation, x, lengths[0] * lengths[2], *lengths)
    else:
        out = _last_axes(operation, x, lengths, first)
    if name == "mean":
        run("divide_by", out, out.size, F32(x.size // out.size))
    return out.reshape(shape)
