"""Holds the kernels' bits against TensorFlow eager: builds tf_bridge.cpp with the system's compiler and compares through ctypes."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import numpy.typing as npt
import pytest

tf = pytest.importorskip("tensorflow")

F32 = np.float32
Array = npt.NDArray[np.float32]
HERE = Path(__file__).resolve().parent
NUMERICS = ["-ffp-contract=off", "-fno-math-errno", "-fno-builtin-expf", "-fno-builtin-logf"]
FLAGS = ["-std=c++20", "-O3", "-march=native", *NUMERICS, "-Wall", "-Wextra", "-Werror"]


@pytest.fixture(scope="session")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The bridge, built for this machine."""
    compiler = os.environ.get("NATIF_CXX") or shutil.which("c++") or "c++"
    library = tmp_path_factory.mktemp("kernels") / "bridge.so"
    subprocess.run([compiler, *FLAGS, f"-I{HERE.parent}", "-shared", "-fPIC", str(HERE / "tf_bridge.cpp"), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


@pytest.fixture
def rng() -> np.random.Generator:
    """The same numbers in every test."""
    return np.random.default_rng(1)


def normal(rng: np.random.Generator, *shape: int, scale: float = 1.0) -> Array:
    """Draws float32 normals of the given shape and standard deviation."""
    return (rng.standard_normal(shape) * scale).astype(F32)


def run(function: Callable[..., object], *arguments: object) -> object:
    """Calls a bridge function: arrays go as pointers, integers as int64."""

    def passed(argument: object) -> object:
        if isinstance(argument, np.ndarray):
            return ctypes.c_void_p(argument.ctypes.data)
        return ctypes.c_int64(argument) if isinstance(argument, int) else argument

    return function(*map(passed, arguments))


def assert_same_bits(mine: npt.NDArray[np.generic], eager: object, what: str, outside: npt.NDArray[np.bool_] | None = None) -> None:
    """Fails unless both have the same shape, type and, but for the elements `outside` the rules, bits."""
    theirs = np.asarray(eager)
    assert mine.shape == theirs.shape, what
    assert mine.dtype == theirs.dtype, what
    view = np.int32 if mine.dtype.itemsize == 4 else np.int64
    mine, theirs = mine.ravel(), theirs.ravel()
    unequal = mine.view(view) != theirs.view(view)
    different = np.flatnonzero(unequal if outside is None else unequal & ~outside.ravel())
    at = different[0] if different.size else 0
    assert different.size == 0, f"{what}: {different.size} differ, first at {at}: {mine[at]} and {theirs[at]}"


# Zeros, denormals and normals at their borders, infinities, NaNs quiet and signalling, ones, the ends of exp's ranges, log's split.
SPECIAL_BITS = """
    00000000 80000000 00000001 80000001 007fffff 807fffff 00800000 80800000 7f800000 ff800000 7fc00000 ffc00000 7fa00001
    7f7fffff ff7fffff 3f800000 bf800000 42b17218 42b17180 c2aeac50 c2aeac51 c2d00000 3f3504f3 3f000000
"""
SPECIAL = np.array([int(word, 16) for word in SPECIAL_BITS.split()], np.uint32).view(F32)

UNARY = {
    "neg": tf.negative,
    "abs": tf.abs,
    "square": tf.square,
    "sqrt": tf.sqrt,
    "relu": tf.nn.relu,
    "exp": tf.exp,
    "log": tf.math.log,
    "tanh": tf.tanh,
    "sigmoid": tf.sigmoid,
    "rsqrt": tf.math.rsqrt,
    "reciprocal": tf.math.reciprocal,
}
BINARY = {"add": tf.add, "sub": tf.subtract, "mul": tf.multiply, "div": tf.divide, "maximum": tf.maximum, "minimum": tf.minimum}
REDUCTIONS = [tf.reduce_sum, tf.reduce_mean, tf.reduce_prod, tf.reduce_max, tf.reduce_min]


def any_bits(rng: np.random.Generator, count: int) -> Array:
    """Draws floats of all bit patterns alike: every exponent, denormals, NaN."""
    return rng.integers(0, 1 << 32, count, dtype=np.uint32).view(F32)


@pytest.mark.parametrize("name", UNARY)
def test_unary(kernels: ctypes.CDLL, rng: np.random.Generator, name: str) -> None:
    """Groups of 8, on sweeps of all exponents, of the usual range and of special values, with odd tails."""
    ordinary = [normal(rng, 100_001, scale=scale) for scale in (1, 10, 100)]
    for x in (any_bits(rng, 1_000_003), *ordinary, np.linspace(-110, 110, 200_007, dtype=F32), np.repeat(SPECIAL, 16)):
        out = np.empty_like(x)
        run(kernels[f"natif_{name}"], x, out, 1, x.size, 1)
        assert_same_bits(out, UNARY[name](tf.constant(x)), name)


@pytest.mark.parametrize("name", UNARY)
def test_unary_tails(kernels: ctypes.CDLL, rng: np.random.Generator, name: str) -> None:
    """The last n mod 8 of vectors and of matrices computed in blocks of rows."""
    for repeat in range(400):
        rows, width = (1, 1 + repeat % 24) if repeat % 2 else (1 + repeat % 5, 1 + repeat % 13)
        count = rows * width
        x = (any_bits(rng, count), rng.choice(SPECIAL, count), normal(rng, count, scale=10))[repeat % 3].reshape(rows, width)
        out = np.empty_like(x)
        run(kernels[f"natif_{name}"], x, out, rows, width, 1 + repeat % 3)
        assert_same_bits(out, UNARY[name](tf.constant(x)), f"{name} of {x!r}")


@pytest.mark.parametrize("name", BINARY)
def test_binary(kernels: ctypes.CDLL, rng: np.random.Generator, name: str) -> None:
    """All pairs of special values and random bits; whole, row, column and scalar operands. Two NaNs at once are outside the rule."""
    left, right = (np.repeat(v.ravel(), 9) for v in np.meshgrid(SPECIAL, SPECIAL))
    cases: list[tuple[Array, Array, int, int]] = [(left.reshape(1, -1), right.reshape(1, -1), 0, 1)]
    cases.append((any_bits(rng, 200_003).reshape(1, -1), any_bits(rng, 200_003).reshape(1, -1), 0, 1))
    for rows, width in ((3, 5), (7, 9), (4, 8), (5, 33), (1, 7), (9, 1), (13, 20), (2, 3)):
        for kind, shape in enumerate([(rows, width), (width,), (rows, 1), ()]):
            cases += [
                (rng.choice(SPECIAL, (rows, width)), np.asarray(rng.choice(SPECIAL, shape), F32), kind, block) for block in (1, 2, 100)
            ]
    for a, b, kind, block in cases:
        out = np.empty_like(a)
        run(kernels[f"natif_{name}"], a, np.ascontiguousarray(b.reshape(-1)), kind, out, *a.shape, block)
        outside = np.isnan(a) & np.isnan(np.broadcast_to(b, a.shape))
        assert_same_bits(out, BINARY[name](tf.constant(a), tf.constant(b)), f"{name} {a.shape} with {b.shape}", outside)


@pytest.mark.parametrize("k", [1, 7, 32, 64, 96, 255, 384, 385, 512, 768, 1000, 1200])
@pytest.mark.parametrize("m", [0, 1, 2, 3, 7, 8, 16, 33, 128])
def test_matmul(kernels: ctypes.CDLL, rng: np.random.Generator, m: int, k: int) -> None:
    """Alone, and with bias and relu in the epilogue; blocks of rows of any height."""
    for n in (1, 2, 3, 5, 8, 10, 15, 16, 17, 31, 33, 40, 48, 64, 65, 80, 100):
        a, b, bias, block = normal(rng, m, k), normal(rng, k, n), normal(rng, n), int(rng.integers(1, 20))
        out = np.empty((m, n), F32)
        eager = tf.matmul(tf.constant(a), tf.constant(b))
        run(kernels.natif_matmul, a, b, None, out, m, k, n, block)
        assert_same_bits(out, eager, f"{m} × {k} × {n}")
        run(kernels.natif_matmul_packed, a, b, np.empty(k * (n + 16), F32), out, m, k, n, block)
        assert_same_bits(out, eager, f"{m} × {k} × {n}, packed")
        run(kernels.natif_matmul, a, b, bias, out, m, k, n, block)
        assert_same_bits(out, tf.nn.relu(tf.nn.bias_add(eager, tf.constant(bias))), f"relu of {m} × {k} × {n}")


@pytest.mark.parametrize("m", [1, 2, 8, 33])
def test_matmul_transpose_a(kernels: ctypes.CDLL, rng: np.random.Generator, m: int) -> None:
    """The left matrix stored [K, M]."""
    for k in (1, 5, 32, 100, 400):
        for n in (1, 2, 8, 10, 64):
            a, b, out = normal(rng, k, m), normal(rng, k, n), np.empty((m, n), F32)
            run(kernels.natif_matmul_transpose_a, a, b, out, m, k, n, 16)
            assert_same_bits(out, tf.matmul(tf.constant(a), tf.constant(b), transpose_a=True), f"{m} × {k} × {n}")


def test_row_times_transposed(kernels: ctypes.CDLL, rng: np.random.Generator) -> None:
    """One row with transpose_b takes the one-column order."""
    for k in (1, 7, 16, 40, 100, 385, 1000):
        for n in (1, 2, 3, 8, 10, 16, 65):
            a, b, bias, out = normal(rng, 1, k), normal(rng, n, k), normal(rng, n), np.empty((1, n), F32)
            run(kernels.natif_row_times_transposed, a, b, bias, out, k, n)
            eager = tf.matmul(tf.constant(a), tf.constant(b), transpose_b=True)
            assert_same_bits(out, tf.nn.relu(tf.nn.bias_add(eager, tf.constant(bias))), f"1 × {k} × {n}")


@pytest.mark.parametrize("scale", [3, 30, 60])
def test_softmax(kernels: ctypes.CDLL, rng: np.random.Generator, scale: float) -> None:
    """Probabilities and classes, rows with -inf among them."""
    kernels.natif_softmax.restype = ctypes.c_bool
    for m in (1, 2, 3, 16, 33):
        for c in (*range(1, 70), 80, 100, 127, 128, 129, 250, 1000, 1001):
            x, classes = normal(rng, m, c, scale=scale), np.empty(m, np.int64)
            x[:, 1:][rng.random((m, c - 1)) < 0.1] = -np.inf
            out, eager = np.empty_like(x), tf.nn.softmax(tf.constant(x))
            assert run(kernels.natif_softmax, x, out, classes, m, c, int(rng.integers(1, 40)))
            assert_same_bits(out, eager, f"{m} × {c}")
            assert_same_bits(classes, tf.argmax(eager, axis=1), f"argmax of {m} × {c}")


@pytest.mark.parametrize("c", [1, 3, 4, 8, 10, 16, 33, 64, 100, 200])
def test_softmax_declines(kernels: ctypes.CDLL, rng: np.random.Generator, c: int) -> None:
    """A row with NaN or +inf, or of -inf only, is left to eager; the largest finite values are not."""
    kernels.natif_softmax.restype = ctypes.c_bool
    for row, known in (([np.nan], False), ([np.inf], False), ([-np.inf] * c, False), ([3e38], True), ([-3e38], True)):
        x = normal(rng, 5, c)
        x[3, -len(row) :] = row
        out = np.empty_like(x)
        assert run(kernels.natif_softmax, x, out, None, 5, c, 16) == known, (c, row)
        if known:
            assert_same_bits(out, tf.nn.softmax(tf.constant(x)), f"{c} with {row}")


def check_softmax_without_onednn(library: str) -> None:
    """The Eigen form within its domain; called in a process of its own, since TensorFlow reads the switch when it is imported."""
    kernels, rng = ctypes.CDLL(library), np.random.default_rng(1)
    kernels.natif_softmax_eigen.restype = ctypes.c_bool
    for m in (1, 2, 3, 7, 8, 9, 15, 16, 17, 23, 100):
        for c in (1, 2, 3, 7, 8, 9, 10, 15, 16, 17, 31, 33, 40, 64, 100, 129, 1000):
            if c % 8 and m * c > 6956:
                continue
            x = normal(rng, m, c, scale=3)
            out = np.empty_like(x)
            assert run(kernels.natif_softmax_eigen, x, out, m, c, int(rng.integers(1, 20)))
            assert_same_bits(out, tf.nn.softmax(tf.constant(x)), f"{m} × {c}")
            x[-1, -1] = np.nan
            assert not run(kernels.natif_softmax_eigen, x, out, m, c, 16)


def test_softmax_without_onednn(kernels: ctypes.CDLL) -> None:
    """softmax_eigen.h against TensorFlow with oneDNN off."""
    subprocess.run([sys.executable, __file__, kernels._name], env={**os.environ, "TF_ENABLE_ONEDNN_OPTS": "0"}, check=True)


@pytest.mark.parametrize("last", [0, 1])
@pytest.mark.parametrize("which", range(len(REDUCTIONS)))
def test_reduce(kernels: ctypes.CDLL, rng: np.random.Generator, which: int, last: int) -> None:
    """Ordinary values, zeros of both signs, denormals and NaN; rows long enough to be halved."""

    def values(m: int, n: int, kind: int) -> Array:
        if kind == 0:
            return 1 + normal(rng, m, n, scale=0.1) if which == 2 else normal(rng, m, n)
        if kind == 1:
            return rng.choice(np.array([0, -0.0, 1e-40, -1e-40, -1], F32), (m, n))
        return np.where(rng.random((m, n)) < 0.05, F32(np.nan), normal(rng, m, n))

    sizes = [(m, n) for m in (1, 2, 3, 8, 15, 16, 17, 33, 100) for n in (1, 2, 5, 7, 8, 9, 15, 17, 31, 32, 33, 40, 63, 64, 72, 100, 256)]
    for m, n in [*sizes, (2, 1000), (1, 8192), (2, 8193), (3, 8200), (5, 20_001), (300, 7)]:
        for kind in range(3):
            x = values(m, n, kind).astype(F32)
            out = np.empty(m if last else n, F32)
            run(kernels.natif_reduce, which, x, out, m, n, int(rng.integers(1, 9)), last)
            assert_same_bits(out, REDUCTIONS[which](tf.constant(x), axis=last), f"{m} × {n}, values of kind {kind}")


@pytest.mark.parametrize("last", [0, 1])
def test_argmax(kernels: ctypes.CDLL, rng: np.random.Generator, last: int) -> None:
    """Ordinary values and every kind of tie, both index types."""
    odd = np.array([0, -0.0, 1e-40, 2e-40, -1e-40, np.inf, -np.inf, np.nan, -3.4028235e38, 1, 2, 1], F32)
    for m in (1, 2, 3, 7, 16, 33):
        for n in (1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100):
            for x in (normal(rng, m, n), rng.choice(odd, (m, n)), rng.choice(odd[[6, 7, 8]], (m, n)), rng.choice(odd[:5], (m, n))):
                for function, dtype in ((kernels.natif_argmax64, np.int64), (kernels.natif_argmax32, np.int32)):
                    out = np.empty(m if last else n, dtype)
                    run(function, x, out, m, n, last)
                    assert_same_bits(out, tf.argmax(tf.constant(x), axis=last, output_type=dtype), f"{x!r}")


def test_transpose(kernels: ctypes.CDLL, rng: np.random.Generator) -> None:
    """Whole matrices and blocks of their rows."""
    for m in (0, 1, 3, 4, 5, 16, 17, 37):
        for n in (1, 2, 4, 5, 16, 19, 40):
            x, out = normal(rng, m, n), np.empty((n, m), F32)
            run(kernels.natif_transpose, x, out, m, n, 7 if m % 2 else 16)
            assert_same_bits(out, tf.transpose(tf.constant(x)), f"{m} × {n}")


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 8, 9, 16, 128, 1001])
def test_chain(kernels: ctypes.CDLL, rng: np.random.Generator, rows: int) -> None:
    """The chain that stands as the code generator's template."""
    x, mean, scale = normal(rng, rows, 32), normal(rng, 32), np.abs(normal(rng, 32)) + F32(0.1)
    w1, b1, w2, b2 = normal(rng, 32, 64), normal(rng, 64), normal(rng, 64, 8), normal(rng, 8)
    classes, probabilities = np.empty(rows, np.int64), np.empty((rows, 8), F32)
    assert run(kernels.natif_chain, x, mean, scale, w1, b1, w2, b2, classes, probabilities, rows)
    h = tf.nn.relu(tf.nn.bias_add(tf.matmul((tf.constant(x) - mean) / scale, w1), b1))
    p = tf.nn.softmax(tf.nn.bias_add(tf.matmul(h, w2), b2))
    assert_same_bits(probabilities, p, "probabilities")
    assert_same_bits(classes, tf.argmax(p, axis=1), "classes")


if __name__ == "__main__":
    check_softmax_without_onednn(sys.argv[1])
