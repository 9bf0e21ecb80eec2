"""Gradients: where TensorFlow would record the operations of a call, the call runs in Python and every derivative is eager's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import offsets
import programs
import pytest
import tensorflow as tf
from observing import Watch, observed, same

BODY = "runs the Python body, which the tape records"


def check(program: Callable[[Any], Any], function: Any, **calls: int) -> None:
    """The program gives with the native function what it gives with its body; the calls ran where they are said to."""
    watch = Watch(function)
    mine = observed(program, function)
    assert watch() == calls
    assert mine == observed(program, function.python)
    assert mine[0] != "error"


@pytest.mark.situation("Gradients", "a tape watches an argument", eager="records each op", natif=BODY)
@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("position", [0, 1, 2])
def test_an_argument(x: Any, w: Any, b: Any, position: int, persistent: bool) -> None:
    arguments = (x, w, b)

    def program(function: Any) -> Any:
        with tf.GradientTape(persistent=persistent) as tape:
            tape.watch(arguments[position])
            result = function(*arguments)
        gradients = [tape.gradient(result, arguments[position])]
        return result, gradients + ([tape.jacobian(result, arguments[position])] if persistent else [])

    check(program, programs.dense, tape=1)


@pytest.mark.situation(
    "Gradients", "an argument comes from a Variable that the tape watches by itself", eager="records each op", natif=BODY
)
def test_a_variable(x: Any, w: Any, b: Any) -> None:
    variable = tf.Variable(w)

    def program(function: Any) -> Any:
        with tf.GradientTape() as tape:
            result = tf.reduce_sum(function(x, variable.value(), b))
        return tape.gradient(result, variable)

    check(program, programs.dense, tape=1)


@pytest.mark.situation("Gradients", "a tape watches a bound tensor", eager="records each op", natif=BODY)
def test_a_bound_tensor(x: Any, w: Any, b: Any) -> None:
    bound = programs.dense.bind(w=w, b=b)
    watch = Watch(bound)
    with tf.GradientTape() as tape:
        tape.watch(w)
        result = bound(x)
    gradient = tape.gradient(result, w)
    assert watch() == {"tape": 1}
    with tf.GradientTape() as tape:
        tape.watch(w)
        result = programs.dense.python(x, w, b)
    assert observed(lambda: gradient) == observed(tape.gradient, result, w)


@pytest.mark.situation("Gradients", "a tape watches a tensor of the module", eager="records each op", natif=BODY)
def test_a_module_tensor(draw: Any) -> None:
    x = draw(2, 3)

    def program(function: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(offsets.OFFSET)
            result = function(x)
        return result, tape.gradient(result, offsets.OFFSET)

    check(program, offsets.with_offset, tape=1)


@pytest.mark.situation("Gradients", "nested tapes, derivatives of derivatives", eager="records on each tape", natif=BODY)
def test_higher_order(x: Any) -> None:
    def program(function: Any) -> Any:
        with tf.GradientTape() as third:
            third.watch(x)
            with tf.GradientTape() as second:
                second.watch(x)
                with tf.GradientTape() as first:
                    first.watch(x)
                    y = tf.reduce_sum(function(x)[0])
                dy = first.gradient(y, x)
            d2y = second.gradient(dy, x)
        return dy, d2y, third.gradient(d2y, x)

    check(program, programs.pair, tape=1)


@pytest.mark.situation("Gradients", "a ForwardAccumulator follows an argument", eager="computes the tangent with each op", natif=BODY)
def test_forward_accumulator(x: Any, w: Any, b: Any) -> None:
    def program(function: Any) -> Any:
        with tf.autodiff.ForwardAccumulator(w, tf.ones_like(w)) as accumulator:
            result = function(x, w, b)
        return result, accumulator.jvp(result)

    check(program, programs.dense, tape=1)


@pytest.mark.situation("Gradients", "a ForwardAccumulator over a tape", eager="Hessian-vector products", natif=BODY)
def test_forward_over_reverse(x: Any) -> None:
    def program(function: Any) -> Any:
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(function(x)[0])
            gradient = tape.gradient(y, x)
        return accumulator.jvp(gradient)

    check(program, programs.pair, tape=1)


@pytest.mark.situation("Gradients", "a tape that watches none of the inputs", eager="records nothing", natif="runs natively")
def test_a_tape_of_something_else(x: Any, w: Any, b: Any) -> None:
    variable = tf.Variable(3.0)

    def program(function: Any) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            result = function(x, w, b)
            loss = variable * tf.reduce_sum(result)
        return loss, tape.gradient(loss, variable), tape.gradient(loss, x)

    check(program, programs.dense, native=1)


@pytest.mark.situation("Gradients", "recording is stopped", eager="records nothing", natif="runs natively")
def test_stopped(x: Any, w: Any, b: Any) -> None:
    def program(function: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            with tape.stop_recording():
                kept = function(x, w, b)
            cut = function(tf.stop_gradient(x), w, b)
            result = x * 2.0
        return kept, cut, tape.gradient(result, x)

    check(program, programs.dense, native=2)


@pytest.mark.situation(
    "Gradients", "a native function inside tf.custom_gradient", eager="uses the given gradient", natif="the same gradient"
)
def test_custom_gradient(x: Any) -> None:
    def program(function: Any) -> Any:
        @tf.custom_gradient
        def custom(value: Any) -> Any:
            return function(value)[0], lambda upstream: upstream * 7.0

        with tf.GradientTape() as tape:
            tape.watch(x)
            result = custom(x)
        return result, tape.gradient(result, x)

    mine, theirs = (observed(program, function) for function in (programs.pair, programs.pair.python))
    assert mine == theirs


@pytest.mark.situation("Gradients", "tf.recompute_grad", eager="runs the function again for the gradient", natif="the same gradient")
def test_recompute_grad(x: Any) -> None:
    def program(function: Any) -> Any:
        again = tf.recompute_grad(lambda value: function(value)[0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            result = again(x)
        return result, tape.gradient(result, x)

    mine, theirs = (observed(program, function) for function in (programs.pair, programs.pair.python))
    assert mine == theirs


@pytest.mark.situation("Gradients", "no parameter is a tensor", eager="records nothing", natif="runs natively")
def test_numbers_only(x: Any) -> None:
    def program(function: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            return function(7, -2)

    check(program, programs.whole, native=1)


@pytest.mark.situation(
    "Gradients", "the first call of all is under a tape", eager="records each op", natif="builds, " + BODY + "; the self-check waits"
)
def test_first_call_under_a_tape(x: Any, w: Any, b: Any) -> None:
    import natif

    fresh = natif.compile(programs.dense, require=True)

    def program(function: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(w)
            result = function(x, w, b)
        return tape.gradient(result, w)

    check(program, fresh, tape=1)
    same(fresh, x, w, b)
    assert fresh.calls["native"] == 1
