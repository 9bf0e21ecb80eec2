"""The kernels' own orders against eager, on this machine's class (test_machine_classes.py runs this file for the others)."""

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from arithmetic import F32, Array, assert_same_bits, dense, draw, has_avx512, onednn_is_on, tf

ROOT = Path(__file__).resolve().parents[2]
NUMERICS = ["-ffp-contract=off", "-fno-math-errno", "-fno-builtin-expf", "-fno-builtin-logf"]

#: Bits of kernel_bridge.cpp: oneDNN, oneDNN on AVX2, Eigen's vectors, Eigen, Eigen on AVX2.
RULES = (1 if has_avx512() else 2) if onednn_is_on() else 4 | (8 if has_avx512() else 16)


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    compiler = os.environ.get("NATIF_CXX") or shutil.which("c++") or "c++"
    path = tmp_path_factory.mktemp("kernels") / "bridge.so"
    flags = ["-std=c++20", "-O2", "-march=native", *NUMERICS, f"-I{ROOT}", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, str(Path(__file__).with_name("kernel_bridge.cpp")), "-o", str(path)], check=True)
    return ctypes.CDLL(str(path))


def product(kernels: ctypes.CDLL, a: Array, b: Array, transpose_a: bool, transpose_b: bool, block: int) -> Array | None:
    """a [M,K] and b [K,N] as they are multiplied; None where the kernel declines."""
    (m, k), n = a.shape, b.shape[1]
    stored_a, stored_b = dense(a.T if transpose_a else a), dense(b.T if transpose_b else b)
    out, turned = np.full((m, n), np.nan, F32), np.zeros(k * n, F32)
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (stored_a, stored_b, turned, out)]
    order = kernels.product_in_blocks(*pointers, *map(ctypes.c_int64, (m, k, n, int(transpose_a), int(transpose_b), RULES, block)))
    return out if order else None


def sizes(rng: np.random.Generator, trial: int) -> tuple[int, int, int]:
    around = [1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 48, 49, 64, 72, 73, 96, 97, 100, 120, 128]
    m, k, n = (int(rng.choice(around) if rng.random() < 0.5 else rng.integers(1, 65 if rng.random() < 0.6 else 700)) for _ in range(3))
    return (1, k, n) if trial % 4 == 0 else (m, k, 1) if trial % 8 == 1 else (m, k, n)


def test_products(kernels: ctypes.CDLL) -> None:
    rng = np.random.default_rng(12)
    known = total = 0
    for trial in range(1200):
        m, k, n = sizes(rng, trial)
        if m * k * n > 2_000_000:
            continue
        flags = bool(rng.random() < 0.35), bool(rng.random() < 0.35)
        a, b = draw(rng, m, k), draw(rng, k, n)
        total += 1
        mine = product(kernels, a, b, *flags, block=int(rng.integers(1, 70)))
        if mine is None:
            continue
        known += 1
        stored_a, stored_b = (dense(x.T) if flag else x for x, flag in zip((a, b), flags, strict=True))
        theirs = tf.matmul(tf.constant(stored_a), tf.constant(stored_b), transpose_a=flags[0], transpose_b=flags[1]).numpy()
        assert_same_bits(mine, theirs, (m, k, n, flags))
    assert known > total / 2


def test_small_batches_are_known(kernels: ctypes.CDLL) -> None:
    """One row through dense layers as people use them never leaves the kernel."""
    rng = np.random.default_rng(13)
    for k, n in ((32, 64), (64, 8), (64, 10), (256, 256), (256, 128), (128, 64), (64, 1), (784, 128), (512, 512)):
        assert product(kernels, draw(rng, 1, k), draw(rng, k, n), False, False, 1) is not None, (k, n)
