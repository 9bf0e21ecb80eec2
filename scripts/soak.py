"""Calls native functions over and over and checks that the process does not grow: results, tensors inside, prepared constants, refused and
declined calls, calls under tapes and in threads. Exits with 1 where it does. Calls in which an op fails are not among them: TensorFlow
2.21 itself keeps some 650 bytes for each op that fails, in eager too.

Usage: .venv/bin/python scripts/soak.py [--calls 10000000]
"""

import argparse
import gc
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

PROGRAM = """
import tensorflow as tf
import natif
from natif.types import *

def score(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D, s: float) -> tuple[TensorF32Cpu2D, TensorI64Cpu1D]:
    h = tf.nn.softmax(tf.nn.relu(tf.matmul(x, w) + b) * s)
    return h, tf.argmax(h, axis=1)

auto = natif.native(lane="auto", require=True)(score)
tfe = natif.native(lane="tfe", require=True)(score)
"""

GROWTH = 4 * 2**20
"""Bytes that the resident set may grow by: pages that the allocator keeps. One tensor leaked in each of 50,000 calls is 15 MiB or more."""

ROUNDS = 10


def resident() -> int:
    """The size of this process in memory, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def refused(function: object, *arguments: object) -> None:
    """A call whose arguments are refused."""
    try:
        function(*arguments)  # type: ignore[operator]
    except (TypeError, ValueError):
        return
    raise AssertionError("the call should have been refused")


def recorded(function: Any, x: Any, *arguments: Any) -> None:
    """A call that a gradient tape records."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        result = function(x, *arguments)[0]
    assert tape.gradient(result, x) is not None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=10_000_000)
    calls = parser.parse_args().calls
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "soak_program.py").write_text(PROGRAM, encoding="utf-8")
        sys.path.insert(0, folder)
        import soak_program  # type: ignore[import-not-found]

        rng = np.random.default_rng(1)
        x, w, b = (tf.constant(rng.standard_normal(shape).astype(np.float32)) for shape in ((4, 32), (32, 8), (8,)))
        spoiled = tf.constant(np.where(np.arange(128).reshape(4, 32) == 77, np.nan, x.numpy()))
        # Of 1,000 calls, 890 run natif's kernels, 80 TensorFlow's ops, 20 are declined (NaN in a softmax row), 6 are refused, 2 under a
        # tape and 2 in a thread of their own.
        sizes, started = [], time.perf_counter()
        for _ in range(ROUNDS + 1):  # the first round fills caches
            for _ in range(calls // ROUNDS // 1000):
                for _ in range(890):
                    kept = soak_program.auto(x, w, b, 2.0)
                for _ in range(80):
                    kept = soak_program.tfe(x, w, b, 0.5)
                for _ in range(20):
                    kept = soak_program.auto(spoiled, w, b, 2.0)
                for _ in range(3):
                    refused(soak_program.auto, x, w, w, 2.0)
                    refused(soak_program.auto, x, None, b, 2.0)
                recorded(soak_program.auto, x, w, b, 2.0)
                recorded(soak_program.tfe, x, w, b, 2.0)
                worker = threading.Thread(target=lambda: (soak_program.auto(x, w, b, 2.0), soak_program.tfe(x, w, b, 2.0)))
                worker.start()
                worker.join()
            gc.collect()
            sizes.append(resident())
        del kept
    growth = sizes[-1] - sizes[0]
    seconds = time.perf_counter() - started
    print(f"{calls:,} calls in {seconds:.0f} s: {sizes[0] / 2**20:.1f} MiB, grown by {growth / 2**20:+.2f} MiB")
    if growth > GROWTH:
        print("natif: the process grows; MiB after each round:", ", ".join(f"{size / 2**20:.2f}" for size in sizes))
    return int(growth > GROWTH)


if __name__ == "__main__":
    sys.exit(main())
