"""Both lanes of one program give eager's bits: chains, broadcasting, reductions, control flow, and what kernels leave to TensorFlow."""

import importlib
import itertools
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from importing import imported

import natif

LANES = ("auto", "tfe")

PROGRAM = """
import tensorflow as tf
import natif
from natif.types import *

native = natif.native(lane="{lane}", require=True)


@native
def classes(
    x: TensorF32Cpu2D, mean: TensorF32Cpu1D, scale: TensorF32Cpu1D,
    w1: TensorF32Cpu2D, b1: TensorF32Cpu1D, w2: TensorF32Cpu2D, b2: TensorF32Cpu1D,
) -> TensorI64Cpu1D:
    h = tf.nn.relu(tf.nn.bias_add(tf.matmul((x - mean) / scale, w1), b1))
    return tf.argmax(tf.nn.softmax(tf.nn.bias_add(tf.matmul(h, w2), b2)), axis=1)


@native
def fixed(
    x: Tensor["float32", ("batch", 32)], w1: Tensor["float32", (32, 20)], b1: Tensor["float32", (20,)], w2: Tensor["float32", (20, 7)]
) -> Tensor["float32", ("batch", 7)]:
    return tf.nn.softmax(tf.matmul(tf.sigmoid(tf.matmul(x, w1) + b1), w2))


@native
def elementwise(x: TensorF32Cpu2D, y: TensorF32Cpu2D, s: float) -> TensorF32Cpu2D:
    return tf.exp(tf.nn.relu(x * y + s)) - tf.maximum(x, y)


@native
def over_axes(x: Tensor["float32", (None, None, None)], y: TensorF32Cpu2D, z: TensorF32Cpu1D) -> Tensor["float32", (None, None, None)]:
    return tf.minimum(tf.tanh(x + y), z)


@native
def normalised(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    centred = x - tf.reduce_mean(x, axis=1, keepdims=True)
    return centred / tf.sqrt(tf.reduce_mean(centred * centred, axis=1, keepdims=True) + 0.001)


@native
def columns(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return (x - tf.reduce_mean(x, axis=0)) / (tf.reduce_max(x, axis=0) - tf.reduce_min(x, axis=0))


@native
def computed_bias(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return tf.nn.relu(tf.matmul(x, w) + tf.exp(b))


@native
def epilogues(
    x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D
) -> tuple[TensorF32Cpu2D, TensorF32Cpu2D, TensorF32Cpu2D, TensorF32Cpu2D, TensorF32Cpu2D]:
    bare = tf.nn.relu(tf.matmul(x, w))
    biased = tf.matmul(x, w) + b
    reversed_sum = tf.nn.relu(b + tf.matmul(x, w))
    twice = tf.nn.relu(biased) + biased
    return bare, biased, reversed_sum, twice, tf.sigmoid(tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w), b))) * b


@native
def two_results(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> tuple[TensorF32Cpu2D, TensorF32Cpu1D]:
    h = tf.tanh(tf.matmul(x, w))
    return h, tf.reduce_sum(tf.sigmoid(h), axis=1)


@native
def transposed(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.matmul(x, tf.transpose(w)) * 2.0


@native
def chain(x: TensorF32Cpu2D, w: TensorF32Cpu2D, depth: int, rectify: bool) -> TensorF32Cpu2D:
    h = tf.nn.relu(tf.matmul(x, w))
    for _ in range(depth):
        if rectify:
            h = tf.nn.relu(h)
        else:
            h = tf.sigmoid(h)
        h = tf.tanh(h)
    return tf.nn.softmax(h)


@native
def first_step(x: TensorF32Cpu1D, steps: int, limit: int) -> TensorF32Cpu1D:
    y = x
    total = 0
    for i in range(steps):
        total = total + i
        if total > limit:
            return y * total
        y = tf.tanh(y) + i
    while total > 0:
        total = total // 2
        y = y - 0.5
    return y
"""


@pytest.fixture(scope="module", params=LANES)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    with imported(tmp_path_factory.mktemp("lanes"), f"lanes_{request.param}", PROGRAM.replace("{lane}", request.param)) as module:
        yield module


@pytest.fixture
def draw() -> Any:
    rng = np.random.default_rng(11)
    return lambda *shape, scale=1.0: tf.constant((rng.standard_normal(shape) * scale).astype(np.float32))


def check(function: Any, *arguments: Any) -> None:
    """The native result has the bits of the Python body's."""
    before = function.calls["native"]
    native, eager = function(*arguments), function.python(*arguments)
    assert function.calls["native"] == before + 1, function.calls
    pairs = zip(native, eager, strict=True) if isinstance(eager, tuple) else [(native, eager)]
    for mine, theirs in pairs:
        assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype)
        assert mine.numpy().tobytes() == theirs.numpy().tobytes(), [a.shape for a in arguments if hasattr(a, "shape")]


@pytest.mark.parametrize("rows", [0, 1, 2, 7, 8, 9, 17, 130])
def test_whole_chain(program: ModuleType, draw: Any, rows: int) -> None:
    for k, n, c in [(32, 64, 8), (5, 7, 3), (64, 64, 10), (3, 1, 1), (17, 33, 20), (400, 20, 70)]:
        check(program.classes, draw(rows, k), draw(k), tf.abs(draw(k)) + 0.1, draw(k, n), draw(n), draw(n, c), draw(c))
    check(program.fixed, draw(rows, 32), draw(32, 20), draw(20), draw(20, 7))


def test_rows_that_softmax_leaves_to_eager(program: ModuleType, draw: Any) -> None:
    x = draw(9, 5).numpy()
    x[3, 1], x[6, 2] = np.nan, np.inf
    check(program.classes, tf.constant(x), draw(5), tf.abs(draw(5)) + 0.1, draw(5, 6), draw(6), draw(6, 4), draw(4))


SHAPES = [
    ((4, 7), (4, 7)),
    ((4, 7), (1, 7)),
    ((4, 7), (4, 1)),
    ((1, 7), (4, 1)),
    ((1, 1), (5, 9)),
    ((0, 3), (1, 3)),
    ((1, 1), (1, 1)),
    ((70, 200), (1, 200)),
    ((99, 201), (99, 1)),
]


@pytest.mark.parametrize("shapes", SHAPES)
def test_broadcasting(program: ModuleType, draw: Any, shapes: Any) -> None:
    (a, b) = shapes
    for x, y in [(draw(*a), draw(*b)), (draw(*b), draw(*a)), (draw(*a) * 0, draw(*b) * -0.0)]:
        check(program.elementwise, x, y, 0.25)


def test_broadcasting_over_axes_in_front(program: ModuleType, draw: Any) -> None:
    for p, r, c in itertools.product([1, 3], [1, 4], [1, 5, 16]):
        check(program.over_axes, draw(p, r, c), draw(r, c), draw(c))
        check(program.over_axes, draw(p, 1, c), draw(r, 1), draw(1))


def test_shapes_that_do_not_fit_raise_eagers_error(program: ModuleType, draw: Any) -> None:
    for call in [lambda f: f(draw(3, 4), draw(3, 5), 1.0), lambda f: f(draw(2, 4), draw(3, 4), 1.0)]:
        with pytest.raises(tf.errors.InvalidArgumentError) as native:
            call(program.elementwise)
        with pytest.raises(tf.errors.InvalidArgumentError) as eager:
            call(program.elementwise.python)
        assert type(native.value) is type(eager.value)


@pytest.mark.parametrize("rows", [1, 2, 15, 16, 40])
def test_reductions(program: ModuleType, draw: Any, rows: int) -> None:
    for width in [1, 2, 7, 8, 9, 31, 33, 64, 100]:
        check(program.normalised, draw(rows, width))
        check(program.columns, draw(rows, width))


def test_values_that_are_computed_once(program: ModuleType, draw: Any) -> None:
    for rows, k, n in [(1, 3, 1), (5, 4, 7), (9, 16, 17), (20, 8, 24)]:
        check(program.computed_bias, draw(rows, k), draw(k, n), draw(n))
        check(program.transposed, draw(rows, k), draw(n, k))
        check(program.two_results, draw(rows, k), draw(k, n))


@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9, 33])
def test_epilogues_of_products(program: ModuleType, draw: Any, rows: int) -> None:
    for k, n in [(3, 1), (5, 3), (4, 8), (7, 15), (32, 64), (9, 65), (500, 21)]:
        x, w, b = draw(rows, k), draw(k, n), draw(n)
        check(program.epilogues, x, w, b)
        check(program.epilogues, x, w, b * -0.0)
        # Zeros of both signs, NaN and infinities as sums.
        rare = x.numpy()
        rare[0] = np.nan
        rare[-1] = 0.0
        rare[rows // 2] = np.inf
        check(program.epilogues, tf.constant(rare), w, b * -0.0)
        check(program.epilogues, tf.constant(rare), -tf.abs(w), b)


def test_special_values(program: ModuleType, draw: Any) -> None:
    special = np.array([0.0, -0.0, 1e-40, -1e-40, np.inf, -np.inf, 1.0, -1.0, 88.9, -104.0, 3e38], np.float32)
    x, y = (tf.constant(special[np.random.default_rng(seed).integers(0, len(special), (13, 11))]) for seed in (1, 2))
    check(program.computed_bias, tf.abs(x), tf.abs(draw(11, 9)), draw(9))
    native, eager = program.elementwise(x, y, -0.5), program.elementwise.python(x, y, -0.5)
    mine, theirs = native.numpy(), eager.numpy()
    assert (np.isnan(mine) == np.isnan(theirs)).all()
    assert (np.nan_to_num(mine).view(np.int32) == np.nan_to_num(theirs).view(np.int32)).all()


@pytest.mark.parametrize("rectify", [False, True])
def test_loops(program: ModuleType, draw: Any, rectify: bool) -> None:
    for depth in (0, 1, 5):
        check(program.chain, draw(13, 9), draw(9, 10), depth, rectify)
    for steps, limit in [(0, 5), (4, 100), (9, 7)]:
        check(program.first_step, draw(11), steps, limit)


def test_large_products_and_long_rows_are_left_to_tensorflow(program: ModuleType, draw: Any) -> None:
    for k, n in [(800, 749), (800, 750)]:  # on both sides of 600,000 weights
        check(program.computed_bias, draw(3, k), draw(k, n), draw(n))
    for width in (8192, 8193):
        check(program.normalised, draw(1, width))


def test_results_do_not_depend_on_the_split(program: ModuleType, draw: Any) -> None:
    w, b = draw(96, 80), draw(80)
    x = draw(3000, 96)
    whole = program.computed_bias(x, w, b).numpy()
    pieces = [program.computed_bias(x[i : i + 500], w, b).numpy() for i in range(0, 3000, 500)]
    assert whole[:2992].tobytes() == np.concatenate(pieces)[:2992].tobytes()
    check(program.computed_bias, x, w, b)


def test_sites_say_their_lane(program: ModuleType) -> None:
    lanes = {site.lane for site in program.classes.report.sites if site.outcome == "Claimed"}
    assert lanes == ({"tfe"} if "tfe" in program.__name__ else {"fused"})


def test_a_lane_that_cannot_be_kept_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"unfusable_{os.getpid()}"
    text = """import tensorflow as tf
from natif.types import *

def f(x: Tensor["float32", (None, None, None)], y: Tensor["float32", (None, None, None)]) -> Tensor["float32", (None, None, None)]:
    return tf.matmul(x, y)
"""
    (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module(name)
    with pytest.raises(natif.CompileError, match=r"BatchMatMulV2 at line 5, column 11 .*right operand of its own"):
        natif.compile(module.f, lane="fused", require=True)
