"""Plain arithmetic for the rules: orders.cpp behind NumPy arrays, random operands, and the comparison of bits.

NumPy rounds every float32 operation once, as AVX without FMA does; chains of many operations, and fused multiply-adds, are in orders.cpp.
"""

import ctypes
import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import numpy.typing as npt
import tensorflow as tf

F32 = np.float32
Array = npt.NDArray[np.float32]


def cpu_flags() -> set[str]:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("flags"):
            return set(line.split(":", 1)[1].split())
    return set()


def onednn_is_on() -> bool:
    """As TensorFlow decides: its variable, else whether the CPU has one of the dot-product or matrix extensions."""
    setting = os.environ.get("TF_ENABLE_ONEDNN_OPTS")
    if setting is not None:
        return setting not in ("0", "false", "False")
    return bool(cpu_flags() & {"avx512_vnni", "avx512_bf16", "avx_vnni", "amx_tile", "amx_int8", "amx_bf16"})


def has_avx512() -> bool:
    """Whether oneDNN takes its AVX-512 kernels."""
    held_down = os.environ.get("ONEDNN_MAX_CPU_ISA", "ALL") not in ("ALL", "DEFAULT")
    return {"avx512f", "avx512bw", "avx512vl", "avx512dq"} <= cpu_flags() and not held_down


@functools.cache
def cache_bytes(level: int) -> int:
    """The data cache of one core at this level, as the kernel reports it."""
    for index in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        if int((index / "level").read_text()) == level and (index / "type").read_text().strip() != "Instruction":
            text = (index / "size").read_text().strip()
            return int(text[:-1]) * {"K": 1 << 10, "M": 1 << 20}[text[-1]]
    return 0


def intra_op_threads() -> int:
    return tf.config.threading.get_intra_op_parallelism_threads() or len(os.sched_getaffinity(0))


@functools.cache
def _library() -> ctypes.CDLL:
    compiler = os.environ.get("NATIF_CXX") or shutil.which("c++") or "c++"
    path = Path(tempfile.mkdtemp(prefix="natif-exactness-")) / "orders.so"
    flags = ["-std=c++20", "-O2", "-mavx2", "-mfma", "-ffp-contract=off", "-fno-builtin", "-fno-math-errno", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, str(Path(__file__).with_name("orders.cpp")), "-o", str(path)], check=True)
    return ctypes.CDLL(str(path))


def run(name: str, *arguments: object) -> None:
    """Calls a function of orders.cpp: arrays go as pointers, numbers as int64 or float."""

    def passed(argument: object) -> object:
        if isinstance(argument, np.ndarray):
            assert argument.flags.c_contiguous
            return ctypes.c_void_p(argument.ctypes.data)
        return ctypes.c_float(argument) if isinstance(argument, np.float32) else ctypes.c_int64(int(argument))  # type: ignore[call-overload]

    getattr(_library(), name)(*map(passed, arguments))


def dense(x: Array) -> Array:
    return np.ascontiguousarray(x, F32)


def draw(rng: np.random.Generator, *shape: int, scale: float = 1.0) -> Array:
    return (rng.standard_normal(shape) * scale).astype(F32)


def same_bits(mine: Array, eager: object) -> bool:
    theirs = np.asarray(eager)
    return mine.shape == theirs.shape and bool((dense(mine).view(np.int32) == dense(theirs).view(np.int32)).all())


def assert_same_bits(mine: Array, eager: object, what: object) -> None:
    theirs = np.asarray(eager)
    assert mine.shape == theirs.shape, what
    unequal = np.flatnonzero((dense(mine).view(np.int32) != dense(theirs).view(np.int32)).ravel())
    assert unequal.size == 0, f"{what}: {unequal.size} of {theirs.size} differ, first at {unequal[0] if unequal.size else 0}"


# ---- chains and dot products --------------------------------------------------------------------------------------------------------


def continue_chain(a: Array, b: Array, start: Array) -> Array:
    """start[i,j], then fma(a[i,k], b[k,j], ·) with k ascending."""
    out = dense(start).copy()
    run("fma_chain", dense(a), dense(b), out, a.shape[0], a.shape[1], b.shape[1])
    return out


def fma_chain(a: Array, b: Array, pieces: list[int] | None = None) -> Array:
    """One chain from 0 for each output; with `pieces` (lengths along k) one chain a piece, their sums added in order."""
    total, at = None, 0
    for length in pieces or [a.shape[1]]:
        part = continue_chain(a[:, at : at + length], b[at : at + length], np.zeros((a.shape[0], b.shape[1]), F32))
        total, at = part if total is None else total + part, at + length
    assert total is not None
    return total


def plain_chain(a: Array, b: Array) -> Array:
    """As fma_chain in one piece, but multiply, then add."""
    out = np.zeros((a.shape[0], b.shape[1]), F32)
    run("plain_chain", dense(a), dense(b), out, a.shape[0], a.shape[1], b.shape[1])
    return out


def dots_of_16_lanes(a: Array, columns: Array) -> Array:
    """a [M,K], columns [N,K]: 16 lanes over k with FMA, the lanes added by halves."""
    out = np.zeros((a.shape[0], columns.shape[0]), F32)
    run("dots_of_16_lanes", dense(a), dense(columns), out, a.shape[0], a.shape[1], columns.shape[0])
    return out


def dots_of_8_lanes(rows: Array, x: Array) -> Array:
    """rows [M,K], x [K]: 8 lanes over k in steps of 16 with FMA, then pieces of 8, 4, 2, 1 without, each added to the sum."""
    out = np.zeros(rows.shape[0], F32)
    run("dots_of_8_lanes", dense(rows), dense(x), out, rows.shape[0], rows.shape[1])
    return out
