"""Errors: what is refused before anything runs, what a failing call raises, and natif's own bugs."""

from __future__ import annotations

import traceback
import warnings
from typing import Any

import bodies
import numpy as np
import pytest
import tensorflow as tf
from support import native
from tensorflow.python import pywrap_tfe

from natif import _runtime

FALLBACK = ', or use on_mismatch="fallback" to run such calls in Python'

REFUSED: list[tuple[Any, type[Exception], str]] = [
    (
        np.zeros((2, 2), np.float32),
        TypeError,
        "expected a TensorFlow EagerTensor, got numpy.ndarray for 'x' of identity(); convert it with tf.convert_to_tensor",
    ),
    ([[1.0]], TypeError, "expected a TensorFlow EagerTensor, got list for 'x' of identity(); convert it with tf.convert_to_tensor"),
    (None, TypeError, "expected a TensorFlow EagerTensor, got NoneType for 'x' of identity(); convert it with tf.convert_to_tensor"),
    (
        tf.Variable([[1.0]]),
        TypeError,
        "expected a TensorFlow EagerTensor, got tensorflow.ResourceVariable for 'x' of identity(); convert it with tf.convert_to_tensor",
    ),
    (
        tf.ragged.constant([[1.0], []]),
        TypeError,
        "expected a TensorFlow EagerTensor, got tensorflow.RaggedTensor for 'x' of identity(); convert it with tf.convert_to_tensor",
    ),
    (
        tf.sparse.from_dense([[1.0]]),
        TypeError,
        "expected a TensorFlow EagerTensor, got tensorflow.SparseTensor for 'x' of identity(); convert it with tf.convert_to_tensor",
    ),
    (
        tf.zeros((2, 2), tf.float64),
        ValueError,
        "expected a float32 tensor, got float64 for 'x' of identity(); cast it with tf.cast(x, tf.float32)",
    ),
    (
        tf.zeros((2,), tf.float16),
        ValueError,
        "expected a float32 tensor, got float16 for 'x' of identity(); cast it with tf.cast(x, tf.float32)",
    ),
    (
        tf.constant([["text"]]),
        ValueError,
        "expected a float32 tensor, got string for 'x' of identity(); cast it with tf.cast(x, tf.float32)",
    ),
    (tf.zeros((2,)), ValueError, "expected a rank-2 tensor, got rank 1 for 'x' of identity(); reshape it"),
    (tf.zeros(()), ValueError, "expected a rank-2 tensor, got rank 0 for 'x' of identity(); reshape it"),
]


@pytest.mark.parametrize(("value", "error", "text"), REFUSED, ids=[case[2].split(" for ")[0] for case in REFUSED])
def test_refused(value: Any, error: type[Exception], text: str) -> None:
    function = native(bodies.identity)
    with pytest.raises(error) as raised:
        function(value)
    assert type(raised.value) is error
    assert str(raised.value) == f"natif: {text}{FALLBACK}"
    assert function.calls == {"native": 0, "python": {}}


@pytest.mark.parametrize("value", [case[0] for case in REFUSED], ids=[case[2].split(" for ")[0] for case in REFUSED])
def test_fallback(value: Any) -> None:
    function = native(bodies.identity, on_mismatch="fallback")
    assert function(value) is value
    assert function.calls == {"native": 0, "python": {"mismatch": 1}}


def test_sizes_that_the_annotation_fixes() -> None:
    function = native(bodies.fixed)
    assert function(tf.zeros((5, 32))).shape == (5, 32)
    with pytest.raises(ValueError, match="^natif: expected size 32 in dimension 1 of 'x', got 31"):
        function(tf.zeros((5, 31)))


def test_the_first_fault_in_order_of_parameters_is_named(x: tf.Tensor, b: tf.Tensor) -> None:
    with pytest.raises(ValueError, match="for 'w' of dense"):
        native(bodies.dense)(x, b, None)


FAILING = [
    ((3, 4), (3, 2), (2,)),
    ((3, 4), (4, 2), (3,)),
    ((0, 4), (5, 2), (2,)),
]


@pytest.mark.parametrize("shapes", FAILING)
def test_a_failing_operation_raises_what_eager_raises(shapes: tuple[tuple[int, ...], ...]) -> None:
    args = [tf.ones(shape) for shape in shapes]
    function = native(bodies.dense)
    with pytest.raises(tf.errors.OpError) as expected:
        bodies.dense(*args)
    with pytest.raises(tf.errors.OpError) as raised:
        function(*args)
    assert type(raised.value) is type(expected.value)
    assert str(raised.value) == str(expected.value)
    assert (raised.value.op, raised.value.node_def, raised.value.error_code) == (
        expected.value.op,
        expected.value.node_def,
        expected.value.error_code,
    )
    assert any(entry.name == "dense" and "tf.matmul(x, w) + b" in (entry.line or "") for entry in traceback.extract_tb(raised.tb))
    assert function.calls == {"native": 0, "python": {"failed": 1}}
    good = [tf.ones((2, 3)), tf.ones((3, 2)), tf.ones((2,))]
    assert np.array_equal(function(*good), bodies.dense(*good))


def test_scalar_errors_are_pythons() -> None:
    function = native(bodies.divide)
    assert [function(n, d) for n, d in ((7, 2), (-7, 2), (7, -2))] == [3, -4, -4]
    with pytest.raises(ZeroDivisionError, match="^integer division or modulo by zero$") as raised:
        function(1, 0)
    last = traceback.extract_tb(raised.tb)[-1]
    assert (last.name, last.line) == ("divide", "return n // d")


def test_overflow_is_raised_where_the_native_code_says() -> None:
    with pytest.raises(OverflowError, match="^natif: an integer beyond 64 bits$") as raised:
        native(bodies.numbers)(2**62)
    last = traceback.extract_tb(raised.tb)[-1]
    assert (last.filename, last.name, last.lineno) == ("bodies.py", "numbers", 35)


@pytest.mark.parametrize("options", [{"mode": "native"}, {"require": True}, {}])
def test_natifs_own_bug_is_an_error_in_tests_and_under_native(
    x: tf.Tensor, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    if options:
        monkeypatch.delenv("NATIF_TESTING")
    with pytest.raises(
        RuntimeError, match="^natif: the native code of 'broken' failed where its Python body succeeds, which is a bug"
    ) as raised:
        native(bodies.broken, **options)(x)
    assert isinstance(raised.value.__cause__, ValueError)


def test_natifs_own_bug_is_one_warning_otherwise(x: tf.Tensor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NATIF_TESTING")
    function = native(bodies.broken)
    with pytest.warns(RuntimeWarning, match="which is a bug of natif: not so"):
        assert function(x) is x
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert function(x) is x
    assert function.calls == {"native": 0, "python": {"failed": 2}}


FAULTS = [
    ("allocate", bodies.add),
    ("run_op", bodies.several),
    ("constant", bodies.total),
    ("scratch", bodies.square),
    ("parallel_for", bodies.square),
    ("handle", bodies.add),
]


@pytest.mark.parametrize(("fault", "body"), FAULTS, ids=[fault for fault, _ in FAULTS])
def test_injected_faults_never_crash(fault: str, body: Any, x: tf.Tensor) -> None:
    arguments = (x[0],) if body is bodies.square else (x, x) if body is bodies.add else (x,)
    function = native(body)
    function(*arguments)
    _runtime.inject_fault(fault)
    for _ in range(20):
        with pytest.raises(RuntimeError, match="which is a bug of natif") as raised:
            function(*arguments)
        assert raised.value.__cause__ is not None
    _runtime.inject_fault(None)
    result = function(*arguments)
    assert np.array_equal(result if body is not bodies.several else result[1], body(*arguments) if body is not bodies.several else x + x)


def test_injected_faults_in_scalars_and_poll(x: tf.Tensor) -> None:
    scale, spin = native(bodies.scale), native(bodies.spin)
    _runtime.inject_fault("from_scalar")
    with pytest.raises(RuntimeError, match="which is a bug of natif"):
        scale(x, 2.0)
    _runtime.inject_fault("poll")
    with pytest.raises(RuntimeError, match="which is a bug of natif"):
        spin(1)
    with pytest.raises(ValueError, match="no host function"):
        _runtime.inject_fault("nonsense")


def test_declined_calls_run_in_python(x: tf.Tensor) -> None:
    function = native(bodies.add)
    assert np.array_equal(function(x, x[:1]), x + x[:1])  # the kernel knows no broadcasting
    assert function.calls == {"native": 0, "python": {"declined": 1}}


SCALARS = [0, 1, -1, 2**24 + 1, 2**31 - 1, 2**31, -(2**31) - 1, 2**40 + 7, 2**53 + 1, 2**54 + 2**30 + 1, 2**63 - 1, -(2**63)]


@pytest.mark.parametrize("value", [*map(float, SCALARS), 0.1, -0.0, 1e39, 1e-46, 3.4028236e38, float("inf"), float("nan")])
def test_numbers_become_tensors_as_in_eager(value: float) -> None:
    ones = tf.ones((1, 1))
    # Eager keeps the tensors of recent Python numbers by equality, so that -0.0 gives 0.0 where 0.0 came before.
    pywrap_tfe.TFE_ClearScalarCache()
    mine, theirs = native(bodies.scale)(ones, value).numpy(), bodies.scale(ones, value).numpy()
    assert mine.view(np.int32) == theirs.view(np.int32)
