"""Functions of many ops: they compile in time, their expressions go through several loops, and the bits stay eager's."""

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

HEAD = """
import tensorflow as tf
import natif
from natif.types import *

native = natif.native(require=True)
"""
SECONDS = 60
"""Of a processor for 1,500 ops, most of it the C++ compiler's; one at 2.5 GHz needs 16."""
STEPS = ("x = tf.exp(x * 0.5) - 1.25", "x = tf.math.log(x * x + 0.3)", "x = tf.sigmoid(x) * y", "x = tf.nn.relu(x) - tf.maximum(y, x)")


def body(lines: Iterator[str], parameters: str, name: str) -> str:
    text = "".join(f"    {line}\n" for line in lines)
    return f"\n\n@native\ndef {name}({parameters}) -> TensorF32Cpu2D:\n{text}    return x\n"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder: Path = tmp_path_factory.mktemp("long")
    name = f"long_{os.getpid()}"
    chain = body((f"x = tf.tanh(x) * {1.01 + i * 1e-4:.4f} - {0.01 + i * 1e-3:.3f}" for i in range(500)), "x: TensorF32Cpu2D", "chain")
    (folder / f"{name}.py").write_text(HEAD + chain, encoding="utf-8")
    tails = body((STEPS[i % 4] for i in range(24)), "x: TensorF32Cpu2D, y: TensorF32Cpu2D", "tails")
    fast = tails.replace("@native", '@natif.native(require=True, numerics="fast")').replace("tails", "fast")
    (folder / f"{name}_tails.py").write_text(HEAD + tails + fast, encoding="utf-8")
    sys.path.insert(0, str(folder))
    try:
        yield lambda part="": importlib.import_module(name + part)
    finally:
        sys.path.remove(str(folder))


def loops(function: Any) -> int:
    """The pointwise loops of its kernels."""
    return int(function.source("plan").count("row block: pointwise"))


def processor_seconds() -> float:
    """What this process and the compilers that it has started and seen end have used."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def bits(tensor: tf.Tensor) -> bytes:
    return bytes(tensor.numpy().tobytes())


def test_500_steps_are_built_in_time(program: Any) -> None:
    chain = program().chain
    values = np.random.default_rng(3).standard_normal((7, 13)).astype(np.float32)
    x = tf.constant(values)
    start = processor_seconds()
    first = chain(x)
    assert processor_seconds() - start < SECONDS
    assert {site.lane for site in chain.report.sites} == {"fused"}
    assert loops(chain) > 200
    assert bits(first) == bits(chain.python(x))
    for shape in ((1, 1), (3, 5), (64, 33), (0, 4)):
        x = tf.constant(np.random.default_rng(4).standard_normal(shape).astype(np.float32))
        assert bits(chain(x)) == bits(chain.python(x))
    assert chain.calls == {"native": 5, "python": {}}


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 40])
@pytest.mark.parametrize("columns", [1, 7, 8, 9, 15, 17, 100])
def test_each_loop_has_its_own_tail(program: Any, rows: int, columns: int) -> None:
    tails, rng = program("_tails").tails, np.random.default_rng(rows * 1000 + columns)
    assert loops(tails) > 5
    x, y = (rng.standard_normal((rows, columns)).astype(np.float32) for _ in range(2))
    special = np.array([np.nan, np.inf, -np.inf, -0.0, 1e-40, 88.0], np.float32)
    for seasoned in (x, np.where(rng.random(x.shape) < 0.2, rng.choice(special, x.shape), x).astype(np.float32)):
        for other in (y, y[:1], y[:, :1]):  # the last two broadcast: the kernel's general form
            mine, theirs = (f(tf.constant(seasoned), tf.constant(other)).numpy() for f in (tails, tails.python))
            nan = np.isnan(theirs)
            assert (np.isnan(mine) == nan).all()
            assert mine[~nan].tobytes() == theirs[~nan].tobytes()


def test_fast_functions_stay_within_their_bounds(program: Any) -> None:
    fast, rng = program("_tails").fast, np.random.default_rng(5)
    assert loops(fast) > 5
    x, y = (tf.constant(rng.standard_normal((33, 17)).astype(np.float32)) for _ in range(2))
    np.testing.assert_allclose(fast(x, y).numpy(), fast.python(x, y).numpy(), rtol=1e-4, atol=1e-5)
