"""exp, log, tanh, sigmoid, reciprocal, rsqrt, relu, maximum in float32: the formula for whole groups of 8 elements, and that for the rest.

The wheel's Eigen, compiled for AVX without FMA: separate multiplies and adds. Constants and formulas are those of the headers it ships
(Eigen/src/Core/arch/Default/GenericPacketMathFunctions.h, Eigen/src/Core/functors/UnaryFunctors.h). The rest of exp and log is the C
library's expf and logf.
"""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from arithmetic import F32, Array, dense, run

Shape = tuple[int, ...]
Positions = npt.NDArray[np.bool_]


# ---- which elements take the second formula -----------------------------------------------------------------------------------------

#: Eager cuts an op with broadcast operands into blocks of about this many elements.
BLOCK, BLOCK_OF_ONE_BROADCAST = 13913, 26666


def _collapse(a: Shape, b: Shape) -> tuple[list[int], set[str]]:
    """Axes along which the operands meet in the same way are one axis; axes of one element are none."""
    rank = max(len(a), len(b))
    dims: list[int] = []
    meetings: set[str] = set()
    last = None
    for x, y in reversed(list(zip((1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b, strict=True))):
        if x == y == 1:
            continue
        meeting = "same" if x == y else "a is one" if x == 1 else "b is one"
        if meeting == last:
            dims[0] *= max(x, y)
        else:
            dims.insert(0, max(x, y))
        last = meeting
        meetings |= {meeting} - {"same"}
    return dims, meetings


def in_blocks(dims: list[int], target: int) -> Positions:
    """The last n mod 8 elements of each block; a block takes whole inner axes until it has `target` elements, and a part of the next."""
    positions = np.zeros(math.prod(dims), bool)
    block, left = [1] * len(dims), target
    for axis in reversed(range(len(dims))):
        block[axis] = min(left, dims[axis])
        left = -(-left // block[axis])
    cut = next(axis for axis in reversed(range(len(dims))) if block[axis] < dims[axis] or axis == 0)
    inner = math.prod(dims[cut + 1 :])
    for outer in range(math.prod(dims[:cut])):
        for at in range(0, dims[cut], block[cut]):
            begin, end = ((outer * dims[cut] + i) * inner for i in (at, min(at + block[cut], dims[cut])))
            positions[begin + (end - begin) // 8 * 8 : end] = True
    return positions


def last_of(n: int) -> Positions:
    return np.arange(n) >= n // 8 * 8


def scalar_positions(a: Shape, b: Shape) -> Positions:
    """Places of the flat result that the scalar formula computes, for two operands of these shapes."""
    dims, meetings = _collapse(a, b)
    n, target = math.prod(dims), BLOCK if len(dims) == 2 or len(meetings) == 2 else BLOCK_OF_ONE_BROADCAST
    if math.prod(a) == 1 or math.prod(b) == 1 or len(dims) < 2 or n <= target:
        return last_of(n)
    return in_blocks(dims, target)


# ---- formulas for groups of 8 -------------------------------------------------------------------------------------------------------


def tanh(x: Array) -> Array:
    limit = F32(7.90738964080810547)
    x = np.clip(x, -limit, limit)
    square = x * x
    p, q = F32(1.394553628e-8), F32(8.015776984e-7)
    for c in (2.102733560e-5, 3.520756727e-3, 1.340216100e-1):
        p = p * square + F32(c)
    for c in (3.326951409e-4, 2.597254514e-2, 4.673548340e-1, 1.0):
        q = q * square + F32(c)
    return ((square * x) * p + x) / q


def _power_of_two_and_rest(x: Array) -> tuple[Array, Array]:
    power = np.floor(x * F32(1.44269504088896341) + F32(0.5)).astype(F32)
    return power, power * F32(2.12194440e-4) + (power * F32(-0.693359375) + x)


def exp(x: Array) -> Array:
    power, r = _power_of_two_and_rest(np.minimum(x, F32(88.723)))
    r2 = r * r
    even = r2 * (r2 * F32(1.37449637986719608306884765625e-3) + F32(4.166965186595916748046875e-2)) + F32(0.49999988079071044921875)
    odd = r2 * F32(8.36894474923610687255859375e-3) + F32(0.16666518151760101318359375)
    return np.ldexp(r2 * (r * odd + even) + (r + F32(1)), power.astype(int)).astype(F32)


def sigmoid(x: Array) -> Array:
    power, r = _power_of_two_and_rest(np.minimum(x, F32(16.6355324)) * F32(0.5))
    r2 = r * r
    even = r2 * F32(4.1898667812347412109375e-2) + F32(0.49999141693115234375)
    odd = r2 * F32(8.33471305668354034423828125e-3) + F32(0.16666877269744873046875)
    e = np.ldexp(r2 * (r * odd + even) + (r + F32(1)), power.astype(int)).astype(F32)
    e = e * e
    return np.where(x < F32(-104), F32(0), e / (F32(1) + e)).astype(F32)


def log(x: Array) -> Array:
    """Positive normal numbers."""
    m, e = (part.astype(F32) for part in np.frexp(x))
    low = m < F32(0.707106781186547524)
    m = (m - F32(1)) + np.where(low, m, F32(0))
    e = e - low.astype(F32)
    p = (F32(0.18256296349849254) * m + F32(1.0000000190281063)) * m + F32(1.0000000190281136)
    q = ((F32(0.049616247954120038) * m + F32(0.59923249590823520)) * m + F32(1.4999999999999927)) * m + F32(1)
    return e * F32(0.693147180559945309) + (m * p) / q


# ---- formulas for the rest ----------------------------------------------------------------------------------------------------------


def from_library(function: str, x: Array) -> Array:
    out = dense(x).copy()
    run(function, out, out.size)
    return out


def _sigmoid_of_one(x: Array) -> Array:
    e = from_library("expf_each", np.minimum(x, F32(16.6355324)))
    return e / (F32(1) + e)


REST: dict[str, Callable[[Array], Array]] = {
    "exp": lambda x: from_library("expf_each", x),
    "log": lambda x: from_library("logf_each", x),
    "tanh": tanh,
    "sigmoid": _sigmoid_of_one,
}
GROUPS: dict[str, Callable[[Array], Array]] = {"exp": exp, "log": log, "tanh": tanh, "sigmoid": sigmoid}


def apply(name: str, x: Array, rest: Positions | None = None) -> Array:
    """A function of one operand over a flat tensor; `rest`: the places of the second formula, else the last n mod 8."""
    out = GROUPS[name](x)
    rest = last_of(x.size) if rest is None else rest
    out[rest] = REST[name](x[rest])
    return out


def estimate(name: str, x: Array) -> Array:
    """reciprocal and rsqrt: the CPU's own estimate with one Newton step; the rest by division."""
    out = np.empty_like(x)
    run(name, dense(x), out, x.size)
    return out


def _flushed(x: Array) -> Array:
    return np.where(np.abs(x) < np.finfo(F32).tiny, np.copysign(F32(0), x), x).astype(F32)


def relu(x: Array) -> Array:
    """Zeros and denormals of either sign become +0 in groups of 8, and zeros of their sign in the rest; but the first of an odd number of
    elements in the rest keeps a denormal. A NaN stays as it is."""
    rest, y = last_of(x.size), _flushed(x)
    out = np.where(np.isnan(x) | (y > 0) | rest & (y == 0), y, F32(0)).astype(F32)
    first = x.size // 8 * 8
    if x.size % 2 and not y[first] < 0:
        out[first] = x[first]
    return out


def larger(a: Array, b: Array, rest: Positions, smallest: bool = False) -> Array:
    """maximum, or minimum: where neither operand is larger, groups of 8 take b and the rest takes a. A NaN is a's, else b's, as it is."""
    x, y = _flushed(a), _flushed(b)
    is_a, is_b = (x < y, y < x) if smallest else (x > y, y > x)
    return np.where(np.isnan(a), a, np.where(np.isnan(b), b, np.where(np.where(rest, ~is_b, is_a), x, y))).astype(F32)
