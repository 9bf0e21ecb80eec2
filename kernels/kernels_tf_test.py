"""Holds the kernels' bits against TensorFlow eager: builds tf_bridge.cpp with the system's compiler and compares through ctypes."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
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


def assert_same_bits(mine: npt.NDArray[np.generic], eager: object, what: str) -> None:
    """Fails unless both have the same shape, type and bits."""
    theirs = np.asarray(eager)
    assert mine.shape == theirs.shape, what
    assert mine.dtype == theirs.dtype, what
    view = np.int32 if mine.dtype.itemsize == 4 else np.int64
    mine, theirs = mine.ravel(), theirs.ravel()
    different = np.flatnonzero(mine.view(view) != theirs.view(view))
    at = different[0] if different.size else 0
    assert different.size == 0, f"{what}: {different.size} differ, first at {at}: {mine[at]} and {theirs[at]}"


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
