"""Errors: the class, op, message and traceback that eager and Python give; and natif's own bugs."""

from __future__ import annotations

import inspect
import traceback
import warnings
from typing import Any

import offsets
import programs
import pytest
import tensorflow as tf
from observing import Watch, observed, same

from natif import _runtime


@pytest.fixture(autouse=True)
def _healthy() -> Any:
    yield
    _runtime.inject_fault(None)


def line_of(function: Any, text: str) -> int:
    """The line of the function's source that holds the text."""
    lines, first = inspect.getsourcelines(function.python)
    return first + next(number for number, line in enumerate(lines) if text in line)


FAILING = [
    (programs.dense, ((5, 4), (3, 3), (3,)), "tf.matmul(x, w)"),
    (programs.dense, ((5, 4), (4, 3), (2,)), "tf.nn.bias_add"),
    (programs.dense, ((0, 4), (3, 3), (3,)), "tf.matmul(x, w)"),
    (programs.quotient, ((5, 4), (4, 4)), "x / y"),
    (programs.quotient, ((0, 4), (0, 3)), "x / y"),
    (offsets.with_offset, ((2, 4),), "OFFSET"),
    (programs.classes, ((2, 4), (4, 0), (0,)), "tf.argmax"),
    (programs.classes, ((2, 4), (4, 2), (3,)), "+ b"),
]


@pytest.mark.situation(
    "Errors",
    "an op fails: shapes that do not fit, an empty axis",
    eager="raises a tf.errors class",
    natif="the same class, op and message; the traceback has the user's line",
)
@pytest.mark.parametrize(("function", "shapes", "text"), FAILING)
def test_failing_ops(function: Any, shapes: Any, text: str, draw: Any) -> None:
    arguments = [draw(*shape) for shape in shapes]
    mine = observed(function, *arguments)
    assert mine == observed(function.python, *arguments)
    assert mine[:2] == ("error", "InvalidArgumentError")
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        function(*arguments)
    own = [entry for entry in traceback.extract_tb(raised.tb) if entry.filename in (programs.__file__, offsets.__file__)]
    assert [entry.lineno for entry in own] == [line_of(function, text)]
    good = [draw(2, 3), draw(3, 3), draw(3)][: len(shapes)] if function is not programs.quotient else [draw(2, 3), draw(2, 3)]
    same(function, *good)


@pytest.mark.situation(
    "Errors",
    "Python numbers fail: ZeroDivisionError",
    eager="Python's error",
    natif="the same; the traceback's last entry is the user's line",
)
def test_scalar_errors() -> None:
    with pytest.raises(ZeroDivisionError, match=r"^integer division or modulo by zero$") as raised:
        programs.whole(1, 0)
    last = traceback.extract_tb(raised.tb)[-1]
    assert (last.filename, last.name, last.lineno) == (programs.__file__, "whole", line_of(programs.whole, "n // d"))
    same(programs.whole, 1, 0)


@pytest.mark.situation(
    "Errors",
    "a result of int arithmetic past 64 bits",
    eager="Python's unbounded int",
    natif="OverflowError; the traceback's last entry is the user's line",
)
def test_overflow() -> None:
    with pytest.raises(OverflowError, match=r"^natif: .*64 bits") as raised:
        programs.whole(2**63 - 1, 1)
    last = traceback.extract_tb(raised.tb)[-1]
    assert (last.filename, last.name, last.lineno) == (programs.__file__, "whole", line_of(programs.whole, "total + 1"))


@pytest.mark.situation(
    "Errors",
    "a bug of natif: native code fails where the body succeeds",
    eager="",
    natif="RuntimeError in tests, under NATIF_MODE=native and with require=True; elsewhere one warning and the body's result",
)
def test_own_bugs(x: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import natif

    relaxed = natif.native(programs.pair.python)
    expected = observed(relaxed, x)
    for fault in ("allocate", "handle"):
        _runtime.inject_fault(fault)
        for function in (relaxed, programs.pair):  # NATIF_TESTING=1; require=True
            with pytest.raises(RuntimeError, match=r"^natif: the native code of 'pair.*' failed .* bug of natif") as raised:
                function(x)
            assert raised.value.__cause__ is not None
    monkeypatch.delenv("NATIF_TESTING")
    with pytest.warns(RuntimeWarning, match="which is a bug of natif"):
        assert observed(relaxed, x) == expected
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert observed(relaxed, x) == expected
    _runtime.inject_fault(None)
    watch = Watch(relaxed)
    assert observed(relaxed, x) == expected
    assert watch() == {"native": 1}


@pytest.mark.situation(
    "Errors",
    "memory runs out, or TensorFlow returns an error or no handle, anywhere in native code",
    eager="",
    natif="an error with its cause; nothing leaks",
)
def test_every_host_function_fails(x: Any, w: Any, b: Any) -> None:
    calls = [
        (programs.dense, (x, w, b)),
        (programs.classes, (x, w, b)),
        (programs.pair, (x,)),
        (programs.scaled, (x, 3)),
        (programs.count, (10**8,)),
    ]
    expected = [observed(function, *arguments) for function, arguments in calls[:-1]]
    for fault in ("allocate", "run_op", "constant", "from_scalar", "scratch", "parallel_for", "poll", "handle"):
        _runtime.inject_fault(fault)
        failures = 0
        for (function, arguments), healthy in zip(calls, [*expected, None], strict=True):
            for _ in range(3):
                outcome = observed(function, *arguments) if function is not programs.count or fault == "poll" else healthy
                failures += outcome != healthy
                assert outcome == healthy or (outcome[1] == "RuntimeError" and "bug of natif" in outcome[3])
                if function is programs.count:
                    break
        _runtime.inject_fault(None)
        assert failures or fault in ("run_op", "constant", "from_scalar", "parallel_for", "scratch")
        assert [observed(function, *arguments) for function, arguments in calls[:-1]] == expected


@pytest.mark.situation(
    "Errors", "an exception inside AutoGraph or a tape", eager="TensorFlow's error", natif="the same, and the next call is native"
)
def test_after_an_error(draw: Any) -> None:
    x, y = draw(3, 4), draw(4, 4)

    def program(function: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            return function(x, y)

    assert observed(program, programs.quotient) == observed(program, programs.quotient.python)
    mine = observed(lambda: tf.function(lambda value: programs.quotient(value, y))(x))
    assert mine[:2] == observed(lambda: tf.function(lambda value: programs.quotient.python(value, y))(x))[:2]
    watch = Watch(programs.quotient)
    programs.quotient(x, x)
    assert watch() == {"native": 1}
