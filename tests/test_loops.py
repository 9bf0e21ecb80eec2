"""Loops and branches that are part of a kernel: eager's bits, errors and objects, and no TensorFlow op while it holds."""

import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from natif import _runtime

PROGRAM = """
import tensorflow as tf
import natif
from natif.types import *

native = natif.native(lane="{lane}", require=True)


@native
def chain(x: TensorF32Cpu2D, w: TensorF32Cpu2D, v: TensorF32Cpu2D, n: int) -> TensorI64Cpu1D:
    h = tf.nn.relu(tf.matmul(x, w))
    for i in range(n):
        if i % 6 == 0:
            h = tf.nn.sigmoid(h)
        else:
            h = tf.nn.relu(h)
        h = tf.nn.tanh(h)
    return tf.argmax(tf.nn.softmax(h, axis=1), axis=1)


@native
def known_count(x: TensorF32Cpu2D, w: TensorF32Cpu2D, v: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    h = tf.matmul(x, w)
    for i in range(1, 6, 2):
        h = tf.sigmoid(h * (1.0 / (i + 1)) - i)
    return tf.nn.softmax(h)


@native
def layers(x: TensorF32Cpu2D, w: TensorF32Cpu2D, v: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    h = tf.matmul(x, w)
    for _ in range(n):
        h = tf.nn.relu(tf.matmul(h, v))
    return h * 0.5


@native
def residual(x: TensorF32Cpu2D, w: TensorF32Cpu2D, v: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    h = tf.matmul(x, w)
    for i in range(n):
        h = h + tf.tanh(tf.nn.bias_add(tf.matmul(h, v), tf.reduce_mean(v, axis=0))) / (i + 1)
    return tf.nn.softmax(h)


@native
def exchanged(x: TensorF32Cpu2D, w: TensorF32Cpu2D, v: TensorF32Cpu2D, n: int) -> tuple[TensorF32Cpu2D, TensorF32Cpu2D]:
    a = tf.matmul(x, w)
    b = tf.exp(a * 0.01)
    for _ in range(n):
        a, b = b, a
    return a * 2.0, b + 1.0


@native
def fibonacci(x: TensorF32Cpu2D, w: TensorF32Cpu2D, v: TensorF32Cpu2D, n: int) -> tuple[TensorF32Cpu2D, TensorF32Cpu2D]:
    a = tf.matmul(x, w)
    b = tf.tanh(a)
    for _ in range(n):
        a, b = b, tf.matmul(a, v) * 0.1 + b
    return a, b


@native
def triple(x: TensorF32Cpu2D, w: TensorF32Cpu2D, v: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    a = tf.matmul(x, w)
    b = a * 2.0
    c = a * 3.0
    for i in range(n):
        if i % 3 == 1:
            a, b, c = c, a, b
        else:
            a, b = a, a
    return a - b / c


@native
def nested(x: TensorF32Cpu2D, w: TensorF32Cpu2D, v: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    h = tf.matmul(x, w)
    for i in range(n):
        for j in range(i):
            h = tf.sigmoid(h) - j * 0.25
        h = tf.maximum(h, 0.1 * i)
    return tf.exp(h * 0.01)


@native
def until(x: TensorF32Cpu2D, w: TensorF32Cpu2D, v: TensorF32Cpu2D, n: int) -> tuple[TensorF32Cpu2D, int, float]:
    h = tf.matmul(x, w)
    left, scale = n, 1.0
    while left > 0:
        left -= 2
        scale *= 0.75
        if left == 3:
            continue
        h = tf.tanh(h) * scale
        if scale < 0.2:
            break
    return h + left, left, scale


@native
def columns(x: TensorF32Cpu2D, w: TensorF32Cpu2D, v: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    h = tf.matmul(x, w)
    m = tf.reduce_max(h, axis=1, keepdims=True)
    for _ in range(n):
        m = tf.reduce_mean(tf.abs(h - m), axis=1, keepdims=True)
        h = tf.nn.softmax(h * 1.5 - m)
    return h - m


@native
def of_parameters(x: TensorF32Cpu2D, w: TensorF32Cpu2D, v: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    for i in range(n):
        x = tf.tanh(x) * (i + 1)
    return x


@native
def of_a_branch(x: TensorF32Cpu2D, w: TensorF32Cpu2D, v: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    h = tf.sigmoid(x) if n > 1 else x
    if n % 2:
        h = h - tf.reduce_max(x, axis=1, keepdims=True)
    return h


@native
def same_results(x: TensorF32Cpu2D, w: TensorF32Cpu2D, v: TensorF32Cpu2D, n: int) -> tuple[TensorF32Cpu2D, TensorF32Cpu2D]:
    h = tf.matmul(x, w)
    g = h
    for _ in range(n):
        g = tf.tanh(g)
    return h, g


@native
def chained(x: TensorF32Cpu2D, w: TensorF32Cpu2D, v: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    h = tf.matmul(x, w)
    total = 0
    for i in range(n):
        total += i
        h = tf.tanh(h) + i
    mean = total / max(n, 1)
    h = h * mean
    for i in range(h.shape[1] % 4):
        h = tf.sigmoid(h) - mean
    return tf.nn.softmax(h - total)


@native
def vector(x: TensorF32Cpu1D, n: int) -> TensorF32Cpu1D:
    y = tf.exp(x * 0.01)
    for i in range(n):
        y = tf.sigmoid(y) + x
    return y * 1.25


@native
def three_axes(x: Tensor["float32", (None, None, None)], w: TensorF32Cpu2D, n: int) -> Tensor["float32", (None, None, None)]:
    h = x * 1.0
    for _ in range(n):
        h = tf.tanh(tf.matmul(h, w))
    return h


@native
def counted(x: TensorF32Cpu1D) -> tuple[TensorF32Cpu1D, TensorF32Cpu0D, int]:
    y = tf.square(x)
    rows = len(y)
    return y, rows + tf.reduce_max(y), rows * 2


@native
def divided(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    h = tf.tanh(x)
    for i in range(n):
        h = tf.tanh(h) * (1 / (3 - i))
    return h * 2.0


@native
def no_fit_then_no_number(x: TensorF32Cpu2D, y: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    h = tf.tanh(x)
    for i in range(n):
        h = h * y if i else h + 1.0
        h = h / (2 - i)
        n = n // (2 - i)
    return h * 2.0


@native
def grows(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    h = tf.tanh(x)
    for i in range(n):
        h = h + tf.reduce_sum(h, axis=0)
    return h * 2.0


@native
def endless(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    h = tf.tanh(x)
    i = 0
    while i != n:
        i += 1
        h = tf.tanh(h * 1.5)
    return h * 2.0


@native
def stepped(x: TensorF32Cpu2D, n: int, step: int) -> TensorF32Cpu2D:
    h = tf.tanh(x)
    for i in range(0, n, step):
        h = tf.tanh(h) + i
    return h * 2.0


@native
def rarely(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    h = tf.tanh(x)
    for i in range(n):
        if i % 1000000007 == 5:
            h = tf.sigmoid(h)
    return h * 2.0


@native
def tiny_numbers(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    h = tf.tanh(x)
    small = 1e-300
    for _ in range(n):
        small = small * 1e-5
        h = h + small * 1e300 * 1e10
    return h * 2.0
"""

SHAPED = ["chain", "known_count", "layers", "residual", "exchanged", "fibonacci", "triple", "nested", "until", "columns"]
SHAPED += ["of_parameters", "of_a_branch", "same_results", "chained"]
COUNTS = (0, 1, 2, 3, 8)


def load(folder: Path, lane: str) -> Any:
    name = f"loops_{lane}_{os.getpid()}"
    (folder / f"{name}.py").write_text(PROGRAM.replace("{lane}", lane), encoding="utf-8")
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))


@pytest.fixture(scope="module", params=["auto", "tfe"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    module = load(tmp_path_factory.mktemp("loops"), request.param)
    module.__dict__["lane"] = request.param
    yield module
    sys.modules.pop(module.__name__, None)


def draw(rng: np.random.Generator, *shape: int) -> tf.Tensor:
    return tf.constant((rng.standard_normal(shape) * 0.7).astype(np.float32))


def arguments(rows: int, width: int, count: int) -> list[Any]:
    rng = np.random.default_rng(rows * 1000 + width * 10 + count)
    return [draw(rng, rows, width), draw(rng, width, width), draw(rng, width, width), count]


def values_of(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def check(function: Any, *given: Any) -> None:
    """The native result has the bits of the Python body's, and is an argument where that is one."""
    before = function.calls["native"]
    native, eager = values_of(function(*given)), values_of(function.python(*given))
    assert function.calls["native"] == before + 1, function.calls
    for mine, theirs in zip(native, eager, strict=True):
        assert [mine is other for other in (*given, *native)] == [theirs is other for other in (*given, *eager)] or not tf.is_tensor(mine)
        if tf.is_tensor(mine):
            assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype)
            numbers, truth = mine.numpy(), theirs.numpy()
            assert (np.isnan(numbers) == np.isnan(truth)).all()
            assert numbers[~np.isnan(truth)].tobytes() == truth[~np.isnan(truth)].tobytes(), (function.__name__, given[-1])
        else:
            assert (type(mine), mine) == (type(theirs), theirs)


@pytest.fixture
def without_ops() -> Any:
    """Runs a call in which every TensorFlow op fails."""

    def run(call: Any) -> Any:
        _runtime.inject_fault("run_op")
        try:
            return call()
        finally:
            _runtime.inject_fault(None)

    return run


@pytest.mark.parametrize("width", [1, 7, 80])
@pytest.mark.parametrize("rows", [0, 1, 7, 8, 9, 500])
def test_loops(program: ModuleType, rows: int, width: int) -> None:
    for name in SHAPED:
        for count in COUNTS:
            check(getattr(program, name), *arguments(rows, width, count))


@pytest.mark.parametrize("name", SHAPED)
def test_a_loop_is_one_kernel(program: ModuleType, without_ops: Any, name: str) -> None:
    if program.lane == "tfe":
        pytest.skip("kernels are the other lane's")
    function = getattr(program, name)
    plan = function.source("plan")
    assert "kernel 1" not in plan, plan
    assert "split" not in plan, plan
    given = arguments(33, 12, 5)
    native, eager = values_of(without_ops(lambda: function(*given))), values_of(function.python(*given))
    for mine, theirs in zip(native, eager, strict=True):
        assert not tf.is_tensor(mine) or mine.numpy().tobytes() == theirs.numpy().tobytes()


def test_numbers_between_ops_without_a_loop(program: ModuleType) -> None:
    rng = np.random.default_rng(4)
    for rows in (0, 1, 7, 9, 100):
        check(program.counted, draw(rng, rows))


def test_other_ranks(program: ModuleType) -> None:
    rng = np.random.default_rng(3)
    for size, count in [(0, 2), (1, 3), (7, 0), (9, 4), (5000, 3)]:
        check(program.vector, draw(rng, size), count)
    for p, r, c in [(1, 1, 1), (2, 3, 5), (3, 8, 16), (2, 0, 4)]:
        check(program.three_axes, draw(rng, p, r, c), draw(rng, c, c), 3)


def test_special_values(program: ModuleType) -> None:
    special = np.array([0.0, -0.0, 1e-40, -1e-40, np.inf, -np.inf, np.nan, 1.0, -1.0, 88.9, -104.0, 3e38], np.float32)
    rng = np.random.default_rng(5)
    for name in ("of_parameters", "of_a_branch"):
        x = tf.constant(special[rng.integers(0, len(special), (13, 11))])
        check(getattr(program, name), x, x, x, 3)


def test_operands_that_are_broadcast_in_a_loop(program: ModuleType) -> None:
    rng = np.random.default_rng(7)
    for shape in [(5, 9), (1, 9), (5, 1), (1, 1)]:
        check(program.no_fit_then_no_number, draw(rng, 5, 9), draw(rng, *shape), 1)


def errors_of(function: Any, *given: Any) -> list[Any]:
    classes = []
    for call in (function, function.python):
        with pytest.raises(Exception) as caught:  # noqa: PT011 (the classes are compared)
            call(*given)
        classes.append((type(caught.value), str(caught.value) if isinstance(caught.value, ArithmeticError | ValueError) else ""))
    return classes


def test_errors_of_numbers_are_eagers(program: ModuleType) -> None:
    x = draw(np.random.default_rng(1), 6, 5)
    check(program.divided, x, 3)
    native, eager = errors_of(program.divided, x, 5)
    assert native == eager
    assert native[0] is ZeroDivisionError
    native, eager = errors_of(program.stepped, x, 5, 0)
    assert native == eager
    assert native[0] is ValueError


def test_the_error_that_eager_meets_first(program: ModuleType) -> None:
    rng = np.random.default_rng(1)
    fitting, other = draw(rng, 6, 5), draw(rng, 6, 4)
    for y, expected in [(other, tf.errors.InvalidArgumentError), (fitting, ZeroDivisionError)]:
        native, eager = errors_of(program.no_fit_then_no_number, draw(rng, 6, 5), y, 4)
        assert native[0] is eager[0]
        assert issubclass(native[0], expected)


def test_numbers_keep_their_denormals(program: ModuleType) -> None:
    check(program.tiny_numbers, draw(np.random.default_rng(1), 6, 5), 4)


def test_a_shape_that_changes_splits(program: ModuleType) -> None:
    check(program.grows, draw(np.random.default_rng(1), 6, 5), 3)
    if program.lane == "auto":
        plan = program.grows.source("plan")
        assert "split before for, line" in plan
        assert "all rows of a value are needed at once" in plan


def test_the_longest_schedule(program: ModuleType, without_ops: Any) -> None:
    """What is past it is in kernels/schedule_test.cpp."""
    if program.lane == "tfe":
        pytest.skip("kernels are the other lane's")
    x = draw(np.random.default_rng(1), 1, 3)
    longest = (1 << 20) - 2  # words, of which the surroundings of the loop take two
    assert without_ops(lambda: program.endless(x, longest)).shape == x.shape


def test_long_loops_can_be_interrupted(tmp_path: Path) -> None:
    load(tmp_path, "auto")
    code = """
        import importlib, os, signal, sys, threading, time
        import numpy as np, tensorflow as tf
        sys.path.insert(0, sys.argv[1])
        program = importlib.import_module(sys.argv[2])

        def interrupted(call):
            sent = []
            def interrupt():
                sent.append(time.monotonic())
                os.kill(os.getpid(), signal.SIGINT)
            call(2)
            threading.Timer(0.3, interrupt).start()
            try:
                call(10**12)
            except KeyboardInterrupt:
                assert time.monotonic() - sent[0] < 0.2 + 1.0 * (os.getloadavg()[0] > os.cpu_count())
            else:
                raise SystemExit("the call was not interrupted")

        x = tf.constant(np.random.default_rng(1).standard_normal((40, 300)).astype(np.float32))
        interrupted(lambda n: program.endless(x, n if n < 10**6 else 10**6))  # in the kernel: 1 s and more
        interrupted(lambda n: program.endless(x, n))                          # past the limit of schedules
        interrupted(lambda n: program.rarely(x, n))                           # while the schedule is recorded
        results = []
        signal.signal(signal.SIGALRM, lambda *_: results.append(5e-324 * 1.0))  # a handler has Python's own arithmetic
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        program.endless(x, 10**6 // 4)
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert results and all(results)
    """
    run_python(code, str(tmp_path), f"loops_auto_{os.getpid()}")


@pytest.mark.parametrize("threads", ["1", "2"])
def test_threads_do_not_matter(tmp_path: Path, threads: str) -> None:
    load(tmp_path, "auto")
    code = """
        import importlib, sys
        sys.path[:0] = [sys.argv[1], sys.argv[3]]
        import test_loops
        program = importlib.import_module(sys.argv[2])
        for rows in (9, 500, 3000):
            for name in test_loops.SHAPED:
                for count in (2, 9):
                    test_loops.check(getattr(program, name), *test_loops.arguments(rows, 80, count))
    """
    run_python(code, str(tmp_path), f"loops_auto_{os.getpid()}", str(Path(__file__).parent), NATIF_NUM_THREADS=threads)


def run_python(code: str, *given: str, **environment: str) -> None:
    lines = code.splitlines()
    text = "\n".join(line[8:] for line in lines)
    done = subprocess.run(
        [sys.executable, "-c", text, *given],
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
