"""The cost model's choices, seen from Python at both sides of each threshold: what is split over threads, what is left to TensorFlow, and
that neither changes a bit."""

import importlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from natif import _runtime

PROGRAM = """
import tensorflow as tf
import natif
from natif.types import *

native = natif.native(require=True)


@native
def flat(x: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.exp(x)


@native
def rows(x: Tensor["float32", (None, 10)], b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return tf.tanh(x) * b


@native
def softmax(x: Tensor["float32", (None, 17)]) -> TensorF32Cpu2D:
    return tf.nn.softmax(x)


@native
def dense(x: Tensor["float32", (None, 64)], w: Tensor["float32", (64, 48)], b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w), b))


@native
def product(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.matmul(x, w)


@native
def total(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_sum(tf.sqrt(x), axis=1)


@native
def general(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.exp(x - y)
"""

HASHES = """
import hashlib, json, sys
import numpy as np, tensorflow as tf
sys.path.insert(0, sys.argv[1])
program = __import__(sys.argv[2])
from natif import _runtime

rng = np.random.default_rng(8)
t = lambda *shape: tf.constant(rng.standard_normal(shape).astype(np.float32))
calls = []
for n in (37, 1000, 12345, 33333):
    calls += [(program.flat, t(n * 30 + 5)), (program.rows, t(n, 10), t(10)), (program.softmax, t(n, 17))]
    calls += [(program.dense, t(n, 64), t(64, 48), t(48)), (program.general, t(n, 9), t(n, 1)), (program.total, tf.abs(t(n, 23)))]
for m in (16, 33, 64, 96, 250):
    calls += [(program.product, t(m, 300), t(300, 400))]
found = []
for function, *arguments in calls:
    got = function(*arguments).numpy()
    assert got.tobytes() == function.python(*arguments).numpy().tobytes(), (function, arguments[0].shape)
    found.append(hashlib.sha256(got.tobytes()).hexdigest())
assert all(f.calls["python"] == {} for f, *_ in calls)
print(json.dumps([_runtime.pool_threads(), found]))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("costs")
    (folder / f"costs_{os.getpid()}.py").write_text(PROGRAM, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def program(folder: Path) -> Iterator[Any]:
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module(f"costs_{os.getpid()}")
    finally:
        sys.path.remove(str(folder))


@pytest.fixture(autouse=True)
def _testing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("NATIF_TESTING", "1")
    yield
    _runtime.inject_fault(None)


def asks_for(fault: str, function: Any, *arguments: Any) -> bool:
    """Whether the native code of a call uses a function of the host's: it fails where that one does."""
    function(*arguments)
    _runtime.inject_fault(fault)
    try:
        function(*arguments)
    except RuntimeError as error:
        assert "a bug of natif" in str(error)  # noqa: PT017
        return True
    finally:
        _runtime.inject_fault(None)
    return False


def is_split(function: Any, *arguments: Any) -> bool:
    return asks_for("parallel_for", function, *arguments)


def is_left_to_tensorflow(function: Any, *arguments: Any) -> bool:
    return asks_for("run_op", function, *arguments)


def draw(*shape: int) -> tf.Tensor:
    return tf.constant(np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32))


def same(function: Any, *arguments: Any) -> None:
    assert function(*arguments).numpy().tobytes() == function.python(*arguments).numpy().tobytes()


def rows_at_the_edge(function: Any) -> int:
    """The fewest rows whose work, as the emitted code estimates it, is 100 µs."""
    launch = rf"natif_status f\d+_{function.__name__}_kernel_0\((.*?)const int64_t work = (.*?);"
    found = re.search(launch, function.source("cpp"), re.DOTALL)
    assert found
    sizes = {f"s{number}": int(size) for number, size in re.findall(r"constexpr int64_t s(\d+) = INT64_C\((\d+)\);", found[1])}
    work = eval(re.sub(r"INT64_C\((\d+)\)", r"\1", found[2]), {}, sizes)
    return int(100_000_000 // work)


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("flat", lambda n: [(n,)]),
        ("rows", lambda n: [(n, 10), (10,)]),
        ("softmax", lambda n: [(n, 17)]),
        ("dense", lambda n: [(n, 64), (64, 48), (48,)]),
    ],
)
def test_work_of_100_us_is_split(program: Any, name: str, shapes: Any) -> None:
    function = getattr(program, name)
    edge = rows_at_the_edge(function)
    assert 20 < edge < 1_000_000
    below, above = ([draw(*shape) for shape in shapes(rows)] for rows in (edge - 1, edge))
    assert not is_split(function, *below)
    assert is_split(function, *above)
    same(function, *below)
    same(function, *above)


def test_a_product_of_few_rows_is_split(program: Any) -> None:
    assert not is_split(program.product, draw(8, 700), draw(700, 300))
    assert is_split(program.product, draw(64, 700), draw(700, 300))


@pytest.mark.parametrize(("rows", "columns"), [(4, 1000), (31, 1000), (32, 750), (100, 750)])
def test_large_products_are_tensorflows(program: Any, rows: int, columns: int) -> None:
    """Of 600,000 weights, or of 450,000 for 32 rows or more."""
    below, above = (draw(rows, 600), draw(600, columns - 1)), (draw(rows, 600), draw(600, columns))
    assert not is_left_to_tensorflow(program.product, *below)
    assert is_left_to_tensorflow(program.product, *above)
    same(program.product, *below)
    same(program.product, *above)


def test_one_row_of_more_than_8192_elements_is_tensorflows(program: Any) -> None:
    for rows, columns, left in ((1, 8192, False), (1, 8193, True), (2, 8193, False)):
        x = tf.abs(draw(rows, columns))
        assert is_left_to_tensorflow(program.total, x) == left
        same(program.total, x)


def test_bits_do_not_depend_on_the_threads(program: Any, folder: Path) -> None:
    found = {}
    for threads in ("1", "2"):
        variables = {**os.environ, "NATIF_NUM_THREADS": threads, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        command = [sys.executable, "-c", HASHES, str(folder), f"costs_{os.getpid()}"]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=250)
        assert done.returncode == 0, done.stderr
        count, found[threads] = eval(done.stdout.splitlines()[-1])
        assert count == min(int(threads), len(os.sched_getaffinity(0)))
    assert found["1"] == found["2"]
