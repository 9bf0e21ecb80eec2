"""Where running natively would be silently different from the Python body, the body runs: tapes, graphs, scopes, hooks."""

from __future__ import annotations

import threading
from typing import Any

import bodies
import numpy as np
import pytest
import tensorflow as tf
from support import native
from tensorflow.python.eager import context, executor
from tensorflow.python.framework import op_callbacks

from natif import _runtime


@pytest.fixture
def dense() -> Any:
    return native(bodies.dense)


def reasons(function: Any) -> dict[str, int]:
    """Python calls by reason."""
    return function.calls["python"]


# ---- gradients ----


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("watched", ["x", "w", "b"])
def test_gradients(dense: Any, x: tf.Tensor, w: tf.Tensor, b: tf.Tensor, watched: str, persistent: bool) -> None:
    tensors = {"x": x, "w": w, "b": b}

    def gradient(function: Any) -> tf.Tensor:
        with tf.GradientTape(persistent=persistent) as tape:
            tape.watch(tensors[watched])
            result = function(x, w, b)
        return tape.gradient(result, tensors[watched])

    assert np.array_equal(gradient(dense), gradient(bodies.dense))
    assert dense.calls == {"native": 0, "python": {"tape": 1}}


def test_a_tape_that_watches_something_else_costs_nothing(dense: Any, x: tf.Tensor, w: tf.Tensor, b: tf.Tensor) -> None:
    other = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        result = dense(x, w, b)
        loss = other * tf.reduce_sum(result)
    assert tape.gradient(loss, other) is not None
    assert dense.calls == {"native": 1, "python": {}}


def test_a_stopped_tape(dense: Any, x: tf.Tensor, w: tf.Tensor, b: tf.Tensor) -> None:
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tape.stop_recording():
            dense(x, w, b)
    dense(tf.stop_gradient(x), w, b)
    assert dense.calls == {"native": 2, "python": {}}


def test_higher_order_and_through_variables(x: tf.Tensor) -> None:
    function = native(bodies.several)
    variable = tf.Variable(x)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(tf.square(function(variable.value())[1]))
        first = inner.gradient(y, variable)
    assert np.array_equal(first, 8 * x)
    assert np.array_equal(outer.gradient(first, variable), 8 * tf.ones_like(x))
    assert reasons(function) == {"tape": 1}


def test_a_hidden_input_that_is_watched() -> None:
    function = native(bodies.add_offset)
    zeros = tf.zeros((2, 2))
    with tf.GradientTape() as tape:
        tape.watch(bodies.OFFSET)
        result = function(zeros)
    assert np.array_equal(tape.gradient(result, bodies.OFFSET), np.ones((2, 2)))
    assert reasons(function) == {"tape": 1}


def test_forward_accumulators(dense: Any, x: tf.Tensor, w: tf.Tensor, b: tf.Tensor) -> None:
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
        result = dense(x, w, b)
        elsewhere = dense(tf.ones((3, 4)), w, b)
    assert accumulator.jvp(result) is not None
    assert accumulator.jvp(elsewhere) is None
    assert dense.calls == {"native": 1, "python": {"tape": 1}}


def test_integers_are_not_recorded() -> None:
    function = native(bodies.divide)
    with tf.GradientTape() as tape:
        tape.watch(tf.constant(1.0))
        assert function(7, 2) == 3
    assert function.calls == {"native": 1, "python": {}}


# ---- graphs ----


def test_tf_function(dense: Any, x: tf.Tensor, w: tf.Tensor, b: tf.Tensor) -> None:
    @tf.function
    def program(value: tf.Tensor) -> tf.Tensor:
        return dense(value, w, b) + dense(x, w, b)  # a symbolic and an eager argument

    expected = 2 * bodies.dense(x, w, b)
    assert np.allclose(program(x), expected)
    assert np.allclose(tf.function(dense)(x, w, b), expected / 2)
    assert dense.calls["native"] == 0
    assert set(reasons(dense)) == {"graph"}


def test_autograph_sees_the_body() -> None:
    def identity(x: tf.Tensor) -> tf.Tensor:
        if tf.reduce_sum(x) > 0:  # noqa: SIM108 (a statement, for AutoGraph to convert)
            y = x
        else:
            y = -x
        return y

    identity.__qualname__ = "identity"
    function = native(identity)
    matrix = tf.constant([[1.0, -3.0]])

    @tf.function
    def program(value: tf.Tensor) -> tf.Tensor:
        return function(value)

    assert np.array_equal(program(matrix), -matrix)
    assert np.array_equal(program(-matrix), -matrix)
    assert np.array_equal(tf.function(function)(matrix), -matrix)
    assert np.array_equal(next(iter(tf.data.Dataset.from_tensors(matrix).map(function))), -matrix)


def test_data_and_graphs(x: tf.Tensor) -> None:
    function = native(bodies.several)
    mapped = next(iter(tf.data.Dataset.from_tensors(x).map(lambda value: function(value)[1])))
    assert np.array_equal(mapped, x + x)
    with tf.Graph().as_default():
        symbolic = tf.constant([[1.0]])
        assert not hasattr(function(symbolic)[1], "numpy")
    assert set(reasons(function)) == {"graph"}


def test_symbolic_arguments_outside_a_graph(x: tf.Tensor) -> None:
    function = native(bodies.identity)
    with tf.Graph().as_default():
        symbolic = tf.constant([[1.0]])
    assert function(symbolic) is symbolic
    assert reasons(function) == {"symbolic": 1}


def test_keras_layers_and_functional_models(x: tf.Tensor) -> None:
    function = native(bodies.several)

    class Twice(tf.keras.layers.Layer):
        def call(self, value: Any) -> Any:
            return function(value)[1]

    inputs = tf.keras.Input((4,))
    model = tf.keras.Model(inputs, Twice()(inputs))
    assert np.array_equal(model(x), x + x)
    assert np.array_equal(model.predict(x, verbose=0), x + x)
    placeholder = native(bodies.identity)
    assert placeholder(inputs) is inputs
    assert reasons(placeholder) == {"symbolic": 1}


def test_functions_run_eagerly(dense: Any, x: tf.Tensor, w: tf.Tensor, b: tf.Tensor) -> None:
    @tf.function
    def program(value: tf.Tensor) -> tf.Tensor:
        return dense(value, w, b)

    tf.config.run_functions_eagerly(True)
    try:
        assert np.array_equal(program(x), bodies.dense(x, w, b))
    finally:
        tf.config.run_functions_eagerly(False)
    assert dense.calls == {"native": 1, "python": {}}


def test_init_scope_inside_a_graph_is_eager(x: tf.Tensor) -> None:
    function = native(bodies.identity)

    @tf.function
    def program() -> tf.Tensor:
        with tf.init_scope():
            assert function(x) is x
        return tf.constant(1)

    program()
    assert function.calls == {"native": 1, "python": {}}


# ---- scopes and hooks ----


@pytest.mark.parametrize("device", ["CPU:0", "/cpu:0", "/job:localhost/replica:0/task:0/device:CPU:0", None])
def test_scopes_of_the_same_device(dense: Any, x: tf.Tensor, w: tf.Tensor, b: tf.Tensor, device: str | None) -> None:
    with tf.device(device):
        dense(x, w, b)
    assert dense.calls == {"native": 1, "python": {}}


@pytest.mark.parametrize("device", ["GPU:0", "CPU:1", "/job:worker/replica:0/task:0/device:CPU:0"])
def test_scopes_of_another_device(x: tf.Tensor, device: str) -> None:
    function = native(bodies.identity)
    with tf.device(device):
        assert function(x) is x
    assert reasons(function) == {"device": 1}


def test_check_numerics(x: tf.Tensor) -> None:
    function = native(bodies.scale)
    tf.debugging.enable_check_numerics()
    try:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Inf|inf"):
            function(x, float("inf"))
    finally:
        tf.debugging.disable_check_numerics()
    function(x, float("inf"))
    assert function.calls == {"native": 1, "python": {"op_callbacks": 1}}


def test_op_callbacks_see_every_operation(dense: Any, x: tf.Tensor, w: tf.Tensor, b: tf.Tensor) -> None:
    seen: list[str] = []

    def callback(op_type: str, *_: Any, **__: Any) -> None:
        seen.append(op_type)

    op_callbacks.add_op_callback(callback)
    try:
        dense(x, w, b)
    finally:
        op_callbacks.remove_op_callback(callback)
    dense(x, w, b)
    assert seen == ["MatMul", "AddV2", "Relu"]
    assert dense.calls == {"native": 1, "python": {"op_callbacks": 1}}


def test_asynchronous_execution(dense: Any, x: tf.Tensor, w: tf.Tensor, b: tf.Tensor) -> None:
    dense(x, w, b)
    with context.executor_scope(executor.new_executor(enable_async=True)):
        result = dense(x, w, b)
    assert np.array_equal(result, bodies.dense(x, w, b))
    dense(x, w, b)
    assert dense.calls == {"native": 2, "python": {"async": 1}}


def test_scopes_belong_to_their_thread(dense: Any, x: tf.Tensor, w: tf.Tensor, b: tf.Tensor) -> None:
    dense(x, w, b)
    with tf.GradientTape() as tape, tf.device("CPU:1"):
        tape.watch(x)
        thread = threading.Thread(target=dense, args=(x, w, b))
        thread.start()
        thread.join()
    assert dense.calls == {"native": 2, "python": {}}


def test_overridden_operators(x: tf.Tensor) -> None:
    function = native(bodies.add)
    function(x, x)
    own = tf.Tensor.__add__
    tf.Tensor.__add__ = lambda left, right: "mine"
    try:
        assert function(x, x) == "mine"
    finally:
        tf.Tensor.__add__ = own
    function(x, x)
    assert function.calls == {"native": 2, "python": {"overridden": 1}}


def test_dispatch_of_tensors_is_not_possible_in_tensorflow() -> None:
    """Eager tensors are not dispatchable, so no guard is needed for tf.experimental.dispatch_for_api."""

    @tf.experimental.dispatch_for_api(tf.nn.relu, {"features": tf.Tensor})
    def mine(features: tf.Tensor, name: str | None = None) -> str:
        return "mine"

    try:
        assert np.array_equal(tf.nn.relu(tf.constant([-1.0])), [0.0])
    finally:
        tf.experimental.unregister_dispatch_for(mine)


def test_modes(x: tf.Tensor) -> None:
    python = native(bodies.identity, mode="python")
    assert python(x) is x
    assert not python.is_native
    assert python.calls == {"native": 0, "python": {"mode": 1}}
    assert python.provider.loads == 0
    assert native(bodies.identity, mode="native").is_native


# ---- the proven rules ----


def test_rules_are_checked_on_this_machine_and_can_be_forced(x: tf.Tensor) -> None:
    function = native(bodies.proven)
    found = function()
    assert found in range(4)
    outcomes = _runtime.self_check()
    assert {rule: outcomes[rule] for rule in ("exp", "matmul")} == {"exp": bool(found & 1), "matmul": bool(found & 2)}
    for exp in (False, True):
        for matmul in (False, True):
            _runtime.force_rule("exp", exp)
            _runtime.force_rule("matmul", matmul)
            assert function() == exp + 2 * matmul
    _runtime.force_rule("all", False)
    _runtime.force_rule("exp", None)
    assert function() == 2
    _runtime.force_rule("matmul", None)
    assert function() == 0
    _runtime.force_rule("all", None)
    assert function() == found


def test_no_tape_sees_the_self_check(tmp_path: Any, subprocess_python: Any) -> None:
    subprocess_python(f"""
        import bodies, tensorflow as tf
        from natif import _runtime
        from support import native
        _runtime.remember_self_check({str(tmp_path)!r})
        x = tf.constant(1.0)
        state = tf.random.get_global_generator().state.numpy().tolist()
        function = native(bodies.proven)
        with tf.GradientTape() as tape:
            tape.watch(x)
            assert function() == 0        # not decided inside a tape
        assert _runtime.self_check() == {{}}
        found = function()
        assert _runtime.self_check().keys() == {{"exp", "matmul"}}
        assert tf.random.get_global_generator().state.numpy().tolist() == state
    """)
    (memory,) = tmp_path.iterdir()
    assert memory.read_text().endswith("end\n")
    # Another process takes the outcome from the file, unless the file is damaged.
    program = f"""
        import bodies, tensorflow as tf
        from natif import _runtime
        from support import native
        _runtime.remember_self_check({str(tmp_path)!r})
        tf.constant(1.0)
        print(native(bodies.proven)())
    """
    true = subprocess_python(program)
    flipped = memory.read_text().replace("exp x86-64-v2 1", "exp x86-64-v2 0").replace("exp aarch64 1", "exp aarch64 0")
    memory.write_text(flipped)
    assert int(subprocess_python(program)) == int(true) & ~1
    memory.write_text(flipped[:-4])
    assert subprocess_python(program) == true
