"""Graphs: wherever TensorFlow builds one, the body goes through AutoGraph as it would without natif."""

from __future__ import annotations

from typing import Any

import programs
import pytest
import tensorflow as tf
from observing import Watch, bits, observed

BODY = "runs the Python body through AutoGraph"


def both(program: Any, function: Any) -> tuple[Any, Any]:
    """What the program gives with the native function and with its body."""
    return observed(program, function), observed(program, function.python)


@pytest.mark.situation("Graphs", "called while tf.function traces, with symbolic arguments", eager="builds the ops", natif=BODY)
def test_tf_function(x: Any, w: Any, b: Any) -> None:
    watch = Watch(programs.dense)

    def program(function: Any) -> Any:
        traced = tf.function(lambda *arguments: function(*arguments) + 1.0)
        return traced(x, w, b), traced(x[:2], w, b)

    mine, theirs = both(program, programs.dense)
    assert mine == theirs
    assert watch() == {"graph": 2}


@pytest.mark.situation("Graphs", "called while tf.function traces, with eager constants only", eager="builds the ops", natif=BODY)
def test_eager_constants(x: Any, w: Any, b: Any) -> None:
    def program(function: Any) -> Any:
        @tf.function
        def traced() -> Any:
            result = function(x, w, b)
            assert not hasattr(result, "numpy")
            return result

        ops = [op.type for op in traced.get_concrete_function().graph.get_operations() if op.type not in ("Const", "Identity", "NoOp")]
        return traced(), ops

    mine, theirs = both(program, programs.dense)
    assert mine == theirs
    assert "MatMul" in mine[1][1][1][0][1]


@pytest.mark.situation("Graphs", "tf.function around the native function itself", eager="traces the body", natif=BODY)
def test_tf_function_of_it(x: Any) -> None:
    mine, theirs = both(lambda function: tf.function(function)(x, 3, factor=1.5), programs.scaled)
    assert mine == theirs
    mine, theirs = both(lambda function: tf.function(function, jit_compile=True)(x), programs.pair)
    assert mine == theirs


@pytest.mark.situation(
    "Graphs",
    "the body has an if that depends on a tensor",
    eager="AutoGraph converts it",
    natif="stays Python; AutoGraph converts the body",
)
def test_tensor_dependent_if(x: Any) -> None:
    traced = tf.function(lambda value: programs.by_sign(value))
    for value, expected in ((tf.abs(x), tf.exp(tf.abs(x))), (-tf.abs(x), tf.abs(x))):
        mapped = next(iter(tf.data.Dataset.from_tensors(value).map(programs.by_sign)))
        assert [bits(result) for result in (traced(value), programs.by_sign(value), mapped)] == [bits(expected)] * 3


@pytest.mark.situation("Graphs", "symbolic numbers steer the body's loop", eager="AutoGraph makes a while loop of it", natif=BODY)
def test_symbolic_numbers(x: Any) -> None:
    def program(function: Any) -> Any:
        traced = tf.function(lambda value, n: function(value, n))
        return [traced(x, tf.constant(n)) for n in (0, 2, 4)]

    mine, theirs = both(program, programs.scaled)
    assert mine == theirs
    assert mine[0] != "error"


@pytest.mark.situation("Graphs", "a Keras functional model and a layer", eager="builds and runs the model", natif=BODY)
def test_keras(x: Any) -> None:
    def program(function: Any) -> Any:
        class Layer(tf.keras.layers.Layer):
            def call(self, value: Any) -> Any:
                return function(value)[0]

        inputs = tf.keras.Input((4,))
        model = tf.keras.Model(inputs, Layer()(inputs))
        return model(x), model.predict(x, verbose=0)

    mine, theirs = both(program, programs.pair)
    assert mine == theirs
    assert mine[0] != "error"


@pytest.mark.situation("Graphs", "a Keras layer called eagerly", eager="runs the ops", natif="runs natively")
def test_keras_eager(x: Any) -> None:
    class Layer(tf.keras.layers.Layer):
        def call(self, value: Any) -> Any:
            return programs.pair(value)[0]

    layer = Layer()
    layer(x)
    watch = Watch(programs.pair)
    assert observed(layer, x) == observed(lambda: programs.pair.python(x)[0])
    assert watch() == {"native": 1}


@pytest.mark.situation("Graphs", "training a Keras model through it", eager="gradients flow", natif="the same losses and weights")
def test_keras_fit(draw: Any) -> None:
    x, y = draw(16, 4), draw(16, 4)

    def program(function: Any) -> Any:
        class Layer(tf.keras.layers.Layer):
            def call(self, value: Any) -> Any:
                return function(value)[0]

        tf.keras.utils.set_random_seed(3)
        model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(4), Layer()])
        model.compile(optimizer=tf.keras.optimizers.SGD(0.1), loss="mse")
        history = model.fit(x, y, epochs=2, batch_size=8, verbose=0, shuffle=False)
        return history.history["loss"], model.get_weights()

    mine, theirs = both(program, programs.pair)
    assert mine == theirs
    assert mine[0] != "error"


@pytest.mark.situation("Graphs", "tf.data.Dataset.map, also parallel", eager="traces the function", natif=BODY)
def test_data(draw: Any) -> None:
    x = draw(6, 5, 4)

    def program(function: Any) -> Any:
        data = tf.data.Dataset.from_tensor_slices(x)
        return list(data.map(function)) + list(data.map(lambda value: function(value)[1], num_parallel_calls=2))

    mine, theirs = both(program, programs.pair)
    assert mine == theirs


@pytest.mark.situation("Graphs", "under tf.Graph, in a TensorFlow 1 session", eager="builds the ops", natif=BODY)
def test_graph(x: Any) -> None:
    def program(function: Any) -> Any:
        with tf.Graph().as_default() as graph:
            placeholder = tf.compat.v1.placeholder(tf.float32, (None, 4))
            results = function(placeholder)
            gradient = tf.gradients(results[0], placeholder)[0]
            with tf.compat.v1.Session(graph=graph) as session:
                return session.run([*results, gradient], {placeholder: x.numpy()})

    mine, theirs = both(program, programs.pair)
    assert mine == theirs
    assert mine[0] != "error"


@pytest.mark.situation("Graphs", "a symbolic tensor outside its graph", eager="the op's own error", natif="runs the body: the same error")
def test_stray_symbolic_tensor(x: Any) -> None:
    with tf.Graph().as_default():
        symbolic = tf.constant([[1.0, 2.0]])
    watch = Watch(programs.pair)
    mine, theirs = both(lambda function: function(symbolic), programs.pair)
    assert mine == theirs
    assert mine[0] == "error"
    assert watch() == {"symbolic": 1}
    inputs = tf.keras.Input((4,))
    mine, theirs = both(lambda function: function(inputs), programs.pair)
    assert (mine[:2], mine[3][:60]) == (theirs[:2], theirs[3][:60])


@pytest.mark.situation("Graphs", "tf.init_scope inside a graph", eager="runs eagerly", natif="runs natively")
def test_init_scope(x: Any) -> None:
    def program(function: Any) -> Any:
        kept = []

        @tf.function
        def traced() -> Any:
            with tf.init_scope():
                kept.append(function(x))
            return tf.constant(0)

        traced()
        return kept

    watch = Watch(programs.pair)
    mine, theirs = both(program, programs.pair)
    assert mine == theirs
    assert watch() == {"native": 1}


@pytest.mark.situation(
    "Graphs",
    "control flow functions called eagerly: tf.cond, tf.while_loop, tf.map_fn, tf.switch_case",
    eager="run eagerly",
    natif="the same",
)
def test_eager_control_flow(draw: Any) -> None:
    x = draw(3, 5, 4)

    def program(function: Any) -> Any:
        looped = tf.while_loop(lambda i, _: i < 3, lambda i, value: (i + 1, function(value)[0]), (tf.constant(0), x[0]))
        chosen = tf.cond(tf.constant(True), lambda: function(x[0]), lambda: function(x[1]))
        switched = tf.switch_case(tf.constant(1), [lambda: function(x[0]), lambda: function(x[2])])
        return looped, chosen, switched, tf.map_fn(lambda value: function(value)[0], x)

    mine, theirs = both(program, programs.pair)
    assert mine == theirs
    assert mine[0] != "error"


@pytest.mark.situation("Graphs", "tf.vectorized_map and Jacobians", eager="builds a graph of the body", natif=BODY)
def test_vectorized_map(draw: Any) -> None:
    x = draw(3, 5, 4)
    mine, theirs = both(lambda function: tf.vectorized_map(lambda value: function(value)[0], x), programs.pair)
    assert mine == theirs
    assert mine[0] != "error"


@pytest.mark.situation("Graphs", "tf.py_function in a graph", eager="runs eagerly on TensorFlow's thread", natif="runs natively there")
def test_py_function(x: Any) -> None:
    watch = Watch(programs.pair)
    mine, theirs = both(lambda function: tf.function(lambda value: tf.py_function(function, [value], [tf.float32] * 2))(x), programs.pair)
    assert mine == theirs
    assert mine[0] != "error"
    assert watch() in ({"native": 1}, {"tape": 1})


@pytest.mark.situation("Graphs", "tf.config.run_functions_eagerly", eager="runs the ops one by one", natif="runs natively")
def test_run_functions_eagerly(x: Any) -> None:
    watch = Watch(programs.pair)
    tf.config.run_functions_eagerly(True)
    try:
        mine, theirs = both(lambda function: tf.function(lambda value: function(value))(x), programs.pair)
    finally:
        tf.config.run_functions_eagerly(False)
    assert mine == theirs
    assert watch() == {"native": 1}


@pytest.mark.situation(
    "Graphs", "saved in a SavedModel", eager="the traced graph is saved", natif="the same graph, which loads without natif"
)
def test_saved_model(x: Any, tmp_path: Any) -> None:
    module = tf.Module()
    module.serve = tf.function(lambda value: programs.pair(value), input_signature=[tf.TensorSpec((None, 4))])
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    assert observed(lambda: list(loaded.serve(x))) == observed(lambda: list(tf.function(programs.pair.python)(x)))


@pytest.mark.situation("Graphs", "AutoGraph is switched off", eager="the body is traced as it stands", natif="the same")
def test_without_autograph(x: Any) -> None:
    mine, theirs = both(lambda function: tf.function(lambda value: function(value, 2), autograph=False)(x), programs.scaled)
    assert mine == theirs

    @tf.autograph.experimental.do_not_convert
    def plain(value: Any) -> Any:
        return programs.by_sign(value)

    result = observed(lambda: tf.function(plain)(x))
    assert result[:2] == ("error", "OperatorNotAllowedInGraphError")
