"""Scopes, switches and hooks of TensorFlow: whatever they would change of the body's operations, they change."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any
from unittest import mock

import offsets
import programs
import pytest
import tensorflow as tf
from observing import Watch, observed, same
from tensorflow.python.eager import context, executor
from tensorflow.python.framework import config, op_callbacks

BODY = "runs the Python body"


def check(scope: Any, function: Any, *arguments: Any, **calls: int) -> Any:
    """Under the scope, a call gives what the body gives there, and ran where it is said to."""
    watch = Watch(function)
    with scope():
        mine = observed(function, *arguments)
        theirs = observed(function.python, *arguments)
    assert mine == theirs
    assert watch() == calls
    return mine


@pytest.mark.situation("Scopes and hooks", "tf.device of the same CPU", eager="runs there", natif="runs natively")
@pytest.mark.parametrize("device", ["CPU:0", "/cpu:0", "/device:CPU:0", "/job:localhost/replica:0/task:0/device:CPU:0", None, ""])
def test_same_device(x: Any, w: Any, b: Any, device: str | None) -> None:
    check(lambda: tf.device(device), programs.dense, x, w, b, native=1)


@pytest.mark.situation("Scopes and hooks", "tf.device of another device", eager="runs there, or fails", natif=BODY)
@pytest.mark.parametrize("device", ["GPU:0", "CPU:1", "/job:worker/replica:0/task:0/device:CPU:0"])
@pytest.mark.parametrize("soft", [True, False])
def test_other_device(x: Any, w: Any, b: Any, device: str, soft: bool) -> None:
    before = tf.config.get_soft_device_placement()
    tf.config.set_soft_device_placement(soft)
    try:
        check(lambda: tf.device(device), programs.dense, x, w, b, device=1)
    finally:
        tf.config.set_soft_device_placement(before)


@pytest.mark.situation("Scopes and hooks", "nested device scopes", eager="the innermost counts", natif="the same")
def test_nested_devices(x: Any, w: Any, b: Any) -> None:
    @contextlib.contextmanager
    def nested() -> Iterator[None]:
        with tf.device("GPU:0"), tf.device("CPU:0"):
            yield

    check(nested, programs.dense, x, w, b, native=1)


@contextlib.contextmanager
def check_numerics() -> Iterator[None]:
    tf.debugging.enable_check_numerics()
    try:
        yield
    finally:
        tf.debugging.disable_check_numerics()


@pytest.mark.situation("Scopes and hooks", "tf.debugging.enable_check_numerics", eager="raises at the first inf or NaN", natif=BODY)
def test_check_numerics(draw: Any) -> None:
    x = draw(3, 3)
    outcome = check(check_numerics, programs.quotient, x, tf.zeros((3, 3)), op_callbacks=1)
    assert outcome[:2] == ("error", "InvalidArgumentError")
    assert check(check_numerics, programs.quotient, x, x, op_callbacks=1)[0] == "tensor"
    check(contextlib.nullcontext, programs.quotient, x, tf.zeros((3, 3)), native=1)


@pytest.mark.situation("Scopes and hooks", "op callbacks", eager="sees every op", natif=BODY)
def test_op_callbacks(x: Any, w: Any, b: Any) -> None:
    seen: list[list[str]] = []

    @contextlib.contextmanager
    def scope() -> Iterator[None]:
        def callback(op_type: Any, *_: Any, **__: Any) -> None:
            seen[-1].append(op_type)

        op_callbacks.add_op_callback(callback)
        try:
            yield
        finally:
            op_callbacks.remove_op_callback(callback)

    for function in (programs.dense, programs.dense.python):
        seen.append([])
        with scope():
            function(x, w, b)
    assert seen[0] == seen[1] == ["MatMul", "BiasAdd", "Sigmoid"]


@pytest.mark.situation("Scopes and hooks", "an operator of tf.Tensor is replaced", eager="calls the replacement", natif=BODY)
def test_operator(draw: Any) -> None:
    x = draw(3, 3)
    scope = lambda: mock.patch.object(tf.Tensor, "__truediv__", lambda left, right: left + right)  # noqa: E731
    check(scope, programs.quotient, x, x, overridden=1)
    check(contextlib.nullcontext, programs.quotient, x, x, native=1)


@pytest.mark.situation(
    "Scopes and hooks", "a function of TensorFlow is replaced (tf.sigmoid, tf.nn.bias_add)", eager="calls the replacement", natif=BODY
)
def test_function(x: Any, w: Any, b: Any) -> None:
    programs.dense(x, w, b)
    for owner, name in ((tf, "sigmoid"), (tf.nn, "bias_add"), (tf, "matmul")):
        scope = lambda: mock.patch.object(owner, name, lambda *arguments, **_: arguments[0] * 2.0)  # noqa: B023, E731
        check(scope, programs.dense, x, w, b, rebound=1)
    check(lambda: mock.patch.object(tf, "sigmoid", tf.tanh), programs.dense, x, w, b, rebound=1)
    check(lambda: mock.patch.object(programs, "tf", None), programs.dense, x, w, b, rebound=1)
    check(lambda: mock.patch.object(programs, "range", list, create=True), programs.scaled, x, 0, rebound=1)
    check(lambda: mock.patch.object(tf, "argmax", None), programs.dense, x, w, b, native=1)
    check(contextlib.nullcontext, programs.dense, x, w, b, native=1)


@pytest.mark.situation(
    "Scopes and hooks", "a function of TensorFlow is replaced before the first call", eager="calls the replacement", natif=BODY
)
def test_function_replaced_early(x: Any) -> None:
    import natif

    fresh = natif.compile(programs.pair, require=True)
    check(lambda: mock.patch.object(tf, "tanh", lambda value: value + 1.0), fresh, x, rebound=1)
    check(lambda: mock.patch.object(tf, "tanh", tf.sigmoid), fresh, x, rebound=1)
    check(contextlib.nullcontext, fresh, x, native=1)


@pytest.mark.situation("Scopes and hooks", "a module-level tensor is set anew", eager="reads the new one", natif="reads the new one")
def test_module_tensor(draw: Any) -> None:
    x = draw(2, 3)
    check(lambda: mock.patch.object(offsets, "OFFSET", draw(1, 3)), offsets.with_offset, x, native=1)
    with mock.patch.object(offsets, "OFFSET", None), pytest.raises(TypeError, match="for the module-level name 'OFFSET'"):
        offsets.with_offset(x)
    kept = offsets.OFFSET
    del offsets.OFFSET
    try:
        check(contextlib.nullcontext, offsets.with_offset, x, missing_name=1)
    finally:
        offsets.OFFSET = kept


@pytest.mark.situation(
    "Scopes and hooks", "dispatch decorators: tf.experimental.dispatch_for_api", eager="dispatches the given types", natif="the same"
)
def test_dispatch(x: Any) -> None:
    @tf.experimental.dispatch_for_api(tf.tanh, {"x": tf.Tensor})
    def mine(x: tf.Tensor, name: str | None = None) -> tf.Tensor:
        return x

    try:
        check(contextlib.nullcontext, programs.pair, x, native=1)
    finally:
        tf.experimental.unregister_dispatch_for(mine)


@pytest.mark.situation("Scopes and hooks", "asynchronous execution", eager="returns before the ops ran", natif=BODY)
def test_asynchronous(x: Any, w: Any, b: Any) -> None:
    check(lambda: context.executor_scope(executor.new_executor(enable_async=True)), programs.dense, x, w, b, **{"async": 1})
    check(contextlib.nullcontext, programs.dense, x, w, b, native=1)


@pytest.mark.situation(
    "Scopes and hooks", "a profiler trace", eager="records the ops", natif="runs natively; only ops that TensorFlow runs are recorded"
)
def test_profiler(x: Any, w: Any, b: Any, tmp_path: Any) -> None:
    check(lambda: tf.profiler.experimental.Profile(str(tmp_path)), programs.dense, x, w, b, native=1)
    assert any(tmp_path.rglob("*.pb"))


@pytest.mark.situation("Scopes and hooks", "tf.summary.trace_on", eager="records the graphs that tf.function builds", natif="the same")
def test_summary_trace(x: Any, w: Any, b: Any, tmp_path: Any) -> None:
    @contextlib.contextmanager
    def traced() -> Iterator[None]:
        tf.summary.trace_on(graph=True)
        try:
            yield
        finally:
            tf.summary.trace_off()

    check(traced, programs.dense, x, w, b, native=1)


@pytest.mark.situation(
    "Scopes and hooks",
    "Keras mixed precision",
    eager="layers cast their inputs",
    natif='float16 arguments are refused, or the body\'s business with on_mismatch="fallback"',
)
def test_mixed_precision(draw: Any) -> None:
    x = draw(4, 3)

    def program(function: Any) -> Any:
        class Layer(tf.keras.layers.Layer):
            def call(self, value: Any) -> Any:
                return function(value, value)

        return Layer()(x)

    before = tf.keras.mixed_precision.global_policy()
    tf.keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        watch = Watch(programs.patient)
        assert observed(program, programs.patient) == observed(program, programs.patient.python)
        assert watch() == {"mismatch": 1}
        with pytest.raises(ValueError, match="expected a float32 tensor, got float16"):
            program(programs.quotient)
        check(contextlib.nullcontext, programs.patient, x, x, native=1)
    finally:
        tf.keras.mixed_precision.set_global_policy(before)


@pytest.mark.situation("Scopes and hooks", "tf.name_scope, tf.control_dependencies", eager="no effect", natif="runs natively")
def test_names(x: Any, w: Any, b: Any) -> None:
    check(lambda: tf.name_scope("scope"), programs.dense, x, w, b, native=1)
    check(lambda: tf.control_dependencies([x]), programs.dense, x, w, b, native=1)


@pytest.mark.situation(
    "Scopes and hooks", "a distribution strategy's scope and its run()", eager="runs in replica context", natif="the same values"
)
def test_strategy(x: Any, w: Any, b: Any) -> None:
    for strategy in (tf.distribute.OneDeviceStrategy("CPU:0"), tf.distribute.MirroredStrategy(["CPU:0"])):
        with strategy.scope():
            same(programs.dense, x, w, b)
        mine, theirs = (observed(strategy.run, function, (x, w, b)) for function in (programs.dense, programs.dense.python))
        assert mine == theirs
        assert mine[0] == "tensor"


@pytest.mark.situation("Scopes and hooks", "tf.config.experimental.enable_op_determinism", eager="the same bits", natif="runs natively")
def test_determinism(x: Any, w: Any, b: Any) -> None:
    tf.keras.utils.set_random_seed(1)
    tf.config.experimental.enable_op_determinism()
    try:
        check(contextlib.nullcontext, programs.dense, x, w, b, native=1)
    finally:
        config.disable_op_determinism()


@pytest.mark.situation("Scopes and hooks", "scopes and tapes of another thread", eager="no effect", natif="runs natively")
def test_other_threads(x: Any, w: Any, b: Any) -> None:
    watch = Watch(programs.dense)
    with tf.GradientTape() as tape, tf.device("CPU:1"):
        tape.watch(x)
        thread = threading.Thread(target=programs.dense, args=(x, w, b))
        thread.start()
        thread.join()
    assert watch() == {"native": 1}


@pytest.mark.situation("Scopes and hooks", "NATIF_MODE=python", eager="", natif="the function itself, without a build")
def test_mode(monkeypatch: pytest.MonkeyPatch, x: Any) -> None:
    import natif

    monkeypatch.setenv("NATIF_MODE", "python")
    function = natif.native(programs.pair.python)
    assert not function.is_native
    assert observed(function, x) == observed(programs.pair.python, x)
