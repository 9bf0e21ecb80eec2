"""The bounds of numerics="fast" for whole results: the largest error against float64 at most twice eager's largest, or 2 ULP of the largest
magnitude; special values as in eager, but a softmax row with NaN or +inf all NaN. And that fast code ran, not what it would decline to.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from importing import imported

import natif

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench import workloads  # noqa: E402
from bench.case import Case  # noqa: E402

PROGRAM = """
import tensorflow as tf
from natif.types import *


def exp(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.exp(x)


def log(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.math.log(tf.abs(x) + 0.001)


def log_of_any(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.math.log(x)


def tanh(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.tanh(x)


def sigmoid(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.sigmoid(x)


def softplus(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.math.log(tf.exp(-tf.abs(x)) + 1.0) + tf.nn.relu(x)


def gates(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.sigmoid(x) * tf.tanh(x * 0.5) + tf.exp(-tf.square(x))


def squashed(x: TensorF32Cpu2D, rounds: int) -> TensorF32Cpu2D:
    h = x
    for _ in range(rounds):
        h = tf.tanh(tf.sigmoid(h) * 2.0 - 0.5)
    return h


def softmax(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.nn.softmax(x)


def classes(x: TensorF32Cpu2D) -> tuple[TensorF32Cpu2D, TensorI64Cpu1D]:
    p = tf.nn.softmax(x)
    return p, tf.argmax(p, axis=1)


def only_classes(x: TensorF32Cpu2D) -> TensorI64Cpu1D:
    return tf.argmax(tf.nn.softmax(x), axis=1)


def layers(x: TensorF32Cpu2D, w1: TensorF32Cpu2D, b1: TensorF32Cpu1D, w2: TensorF32Cpu2D) -> TensorF32Cpu2D:
    h = tf.tanh(tf.matmul(x, w1) + b1)
    return tf.nn.softmax(tf.matmul(tf.sigmoid(h * 3.0), w2))


def ten(x: Tensor["float32", ("rows", 10)]) -> Tensor["float32", ("rows", 10)]:
    return tf.nn.softmax(x)
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    with imported(tmp_path_factory.mktemp("fast"), "fast", PROGRAM) as module:
        yield module


@pytest.fixture(scope="module")
def fast(program: ModuleType) -> Any:
    """A function of the program, compiled once."""
    made: dict[str, Any] = {}

    def get(name: str) -> Any:
        if name not in made:
            made[name] = natif.compile(getattr(program, name), numerics="fast", lane="fused", require=True)
        return made[name]

    return get


def draw(*shape: int, scale: float = 1.0, seed: int = 5) -> Any:
    return tf.constant((np.random.default_rng((seed, *shape)).standard_normal(shape) * scale).astype(np.float32))


def run(function: Any, *arguments: Any) -> Any:
    """The native result; the call counts as native."""
    before = function.calls["native"]
    result = function(*arguments)
    assert function.calls["native"] == before + 1, function.calls
    return result


def in_float64(function: Any, *arguments: Any) -> Any:
    return function(*[tf.cast(a, tf.float64) if isinstance(a, tf.Tensor) else a for a in arguments])


def check(function: Any, *arguments: Any) -> None:
    """The bound, for a function with one float32 result."""
    actual, eager = run(function, *arguments).numpy(), function.python(*arguments).numpy()
    truth = in_float64(function.python, *arguments).numpy()
    assert actual.shape == eager.shape
    if truth.size == 0:
        return
    ulp = np.spacing(np.float32(np.abs(truth).max()))
    allowed = max(2 * np.abs(eager - truth).max(), 2 * ulp)
    error = np.abs(actual - truth)
    at = np.unravel_index(np.argmax(error), error.shape)
    assert error[at] <= allowed, (
        f"{actual[at]} instead of {truth[at]}: {error[at] / ulp:.2f} ULP, eager {np.abs(eager - truth).max() / ulp:.2f}"
    )


SIZES = [(1, 1), (1, 7), (3, 3), (2, 8), (5, 9), (13, 17), (64, 31), (33, 257), (700, 90)]


@pytest.mark.parametrize("name", ["exp", "log", "tanh", "sigmoid", "softplus", "gates"])
@pytest.mark.parametrize("scale", [0.01, 1.0, 6.0])
def test_elementwise(fast: Any, name: str, scale: float) -> None:
    for shape in [*SIZES, (0, 4)]:
        check(fast(name), draw(*shape, scale=scale))


@pytest.mark.parametrize("rounds", [1, 2, 7])
def test_chains(fast: Any, rounds: int) -> None:
    for shape in SIZES:
        check(fast("squashed"), draw(*shape, scale=3.0), rounds)


@pytest.mark.parametrize("scale", [0.1, 3.0, 40.0, 1e4])
def test_softmax_of_any_spread(fast: Any, scale: float) -> None:
    for rows in (1, 2, 3, 4, 5, 9, 130):
        for columns in (1, 2, 4, 7, 8, 10, 16, 24, 33, 64, 65, 100, 1001):
            check(fast("softmax"), draw(rows, columns, scale=scale))
        check(fast("ten"), draw(rows, 10, scale=scale))


def test_products(fast: Any) -> None:
    for rows in (1, 2, 8, 9, 65):
        for k, n, classes in [(3, 1, 2), (32, 20, 7), (65, 33, 10), (200, 64, 100)]:
            check(fast("layers"), draw(rows, k), draw(k, n, scale=k**-0.5), draw(n), draw(n, classes))


@pytest.mark.parametrize("case", workloads.cases(("score", "mlp", "small_batch", "chain", "elementwise")), ids=lambda case: case.name)
def test_the_benchmarks_programs(case: Case) -> None:
    function = natif.compile(case.target(witness=True), numerics="fast", require=True)
    check(function, *map(tf.constant, case.tensors.values()), *case.scalars.values())


def same_kind(actual: Any, eager: Any) -> bool:
    """NaN, each infinity and each zero at the same places."""
    kinds = [np.where(np.isnan(a), 9, np.where(np.isinf(a) | (a == 0), np.copysign(1 + (a == 0), a), 0)) for a in (actual, eager)]
    return bool((kinds[0] == kinds[1]).all())


def test_special_values(fast: Any) -> None:
    special = [0.0, -0.0, 1e-40, -1e-40, np.inf, -np.inf, np.nan, -np.nan, 88.8, -88.0, -104.5, 3e38, -3e38, 1.0, -1.0]
    for name in ("exp", "log_of_any", "tanh", "sigmoid"):
        for columns in (1, 5, 16, 23):  # a tail's formulas of eager's take denormals as they are
            x = np.resize(np.array(special, np.float32), (15, columns)) if columns % 8 == 0 else np.repeat(special, columns).reshape(15, -1)
            x = np.delete(x, [2, 3], axis=0) if columns % 8 else x
            x = tf.constant(x.astype(np.float32))
            assert same_kind(run(fast(name), x).numpy(), fast(name).python(x).numpy()), (name, columns)


@pytest.mark.parametrize("odd", [np.nan, np.inf])
@pytest.mark.parametrize("columns", [1, 3, 8, 10, 33, 64, 200])
def test_a_softmax_row_with_nan_or_infinity_is_nan_throughout(fast: Any, columns: int, odd: float) -> None:
    x = draw(9, columns).numpy()
    usual = run(fast("softmax"), tf.constant(x)).numpy()
    x[3, columns // 2] = x[8, columns - 1] = odd
    p, index = run(fast("classes"), tf.constant(x))
    alone = run(fast("only_classes"), tf.constant(x))
    rows = [r for r in range(9) if r not in (3, 8)]
    assert np.isnan(p.numpy()[[3, 8]]).all()
    assert (p.numpy()[rows] == usual[rows]).all()
    assert (index.numpy() == tf.argmax(p, axis=1).numpy()).all()
    assert (alone.numpy() == index.numpy()).all()
    assert index.numpy()[3] == index.numpy()[8] == 0


@pytest.mark.parametrize("columns", [1, 8, 10, 64, 200])
def test_a_softmax_row_of_negative_infinity_is_eagers(fast: Any, columns: int) -> None:
    x = draw(5, columns).numpy()
    x[2] = x[4, 0] = -np.inf
    p, eager = run(fast("softmax"), tf.constant(x)).numpy(), fast("softmax").python(tf.constant(x)).numpy()
    assert np.isnan(eager[2]).all()
    assert same_kind(p, eager)


def test_the_report_tells_fused_and_inexact_ops(fast: Any) -> None:
    sites = [site for name in ("gates", "classes") for site in fast(name).report.sites if site.outcome == "Claimed"]
    assert {site.lane for site in sites} == {"fused"}
    assert {site.rule for site in sites if not site.exact} == {"natif/Sigmoid", "natif/Tanh", "natif/Exp", "natif/Softmax"}


def test_fast_code_is_not_exact_code(fast: Any) -> None:
    """Or every test above could hold for what exact code gives, too. Softmax' own difference is its rows of NaN."""
    x = draw(64, 64, scale=3.0)
    for name in ("exp", "tanh", "sigmoid"):
        assert (run(fast(name), x).numpy() != fast(name).python(x).numpy()).any(), name
    for name in ("softmax", "classes", "only_classes"):
        text = fast(name).source("cpp")
        assert "fast_softmax" in text
        assert "softmax_order" not in text
