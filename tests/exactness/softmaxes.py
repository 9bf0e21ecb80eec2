"""Softmax in float32 over the last axis, finite rows: oneDNN's AVX-512 kernel, and Eigen's where oneDNN is off.

Along another axis TensorFlow swaps that axis with the last one, before and after.
"""

import elementwise
import numpy as np
from arithmetic import F32, Array, dense, run

#: Eigen evaluates the exponentials in blocks of this many elements.
EIGEN_BLOCK = 6956


def _bits(pattern: int) -> np.float32:
    return np.array(pattern, np.uint32).view(F32)[()]


def _fma(a: Array, b: Array | np.float32, c: Array | np.float32) -> Array:
    """a·b + c, rounded once."""
    out = np.full_like(a, c) if isinstance(c, np.float32) else dense(c).copy()
    run("fma_each", dense(a), dense(np.broadcast_to(b, a.shape)), out, a.size)
    return out


def _exp_of_onednn(x: Array) -> Array:
    low, high = _bits(0xC2AEAC50), _bits(0x42B17218)
    clipped = np.clip(x, low, high)
    n = np.floor(clipped * _bits(0x3FB8AA3B) + F32(0.5)).astype(F32)
    r = _fma(-n, _bits(0x3F317218), clipped)
    y = _fma(r, _bits(0x3C07CFCE), _bits(0x3D2B9D0D))
    for c in (0x3E2AAD40, 0x3EFFFEE3, 0x3F7FFFFB, 0x3F800000):
        y = _fma(y, r, _bits(c))
    scale = np.where(x < low, F32(0), np.ldexp(F32(1), n.astype(int) - 1)).astype(F32)
    return y * scale * F32(2)


def of_onednn(x: Array) -> Array:
    """The sum runs over chunks of 16: chunk i into accumulator i mod 4 (fewer where C < 64), the partial last one into the first."""
    rows, c = x.shape
    whole, chunks = c // 16, -(-c // 16)
    e = np.zeros((rows, chunks * 16), F32)
    e[:, :c] = _exp_of_onednn(x - x.max(1, keepdims=True))
    sums = [np.zeros((rows, 16), F32) for _ in range(min(4, max(whole, 1)))]
    for i in range(chunks):
        to = i % len(sums) if i < whole else 0
        sums[to] = sums[to] + e[:, i * 16 : i * 16 + 16]
    while len(sums) > 1:
        sums = [sums[i] + sums[i + 1] if i + 1 < len(sums) else sums[i] for i in range(0, len(sums), 2)]
    total, lane = sums[0], np.arange(16)
    for half in (8, 4, 2, 1):
        total = total + total[:, lane ^ half]
    return e[:, :c] * (F32(1) / total[:, :1])


def of_eigen(x: Array) -> Array:
    """exp by elementwise.py, sums by reductions.py, and one `reciprocal` over all sums: in groups of 8 rows it is not a division."""
    rows, c = x.shape
    difference = (x - x.max(1, keepdims=True)).ravel()
    rest = None if difference.size <= EIGEN_BLOCK else elementwise.in_blocks([rows, c], EIGEN_BLOCK)
    e = elementwise.apply("exp", difference, rest).reshape(rows, c)
    total = np.empty(rows, F32)
    run("reduce_last", 0, e, total, rows, c)
    return e * elementwise.estimate("reciprocal", total)[:, None]
