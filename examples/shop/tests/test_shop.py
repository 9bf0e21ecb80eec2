"""The shop's own tests. They pass with the sources, with a built package, and where its native code can't be used.

NATIF_MODE=native demands native code, NATIF_MODE=python excludes it; otherwise only the values count.
"""

import inspect
import os
import pickle

import numpy as np
import pytest
import shop.demo
import tensorflow as tf
from shop import features, pricing, ranking, scoring, text
from shop.ranking import blend

MODE = os.environ.get("NATIF_MODE", "auto")
TYPED = [
    features.standardise,
    features.squashed,
    scoring.logits,
    scoring.probabilities,
    scoring.chosen,
    pricing.discounted,
    ranking.blended,
]


def offers(count):
    return tf.constant(np.random.default_rng(count).normal(size=(count, 6)).astype(np.float32))


def bits(tensor):
    return tensor.numpy().tobytes()


@pytest.mark.skipif(MODE not in ("native", "python"), reason="only NATIF_MODE=native and NATIF_MODE=python say what has to be native")
@pytest.mark.parametrize("function", TYPED, ids=lambda function: function.__qualname__)
def test_typed_functions_are_native_as_demanded(function):
    assert getattr(function, "is_native", False) is (MODE == "native")


@pytest.mark.parametrize("count", [0, 1, 7, 33])
def test_scores_are_those_of_the_python_bodies(count):
    x, model = offers(count), shop.demo.weights()
    scores = scoring.logits(x, *model)
    w1, b1, w2, b2 = model
    assert bits(scores) == bits((tf.nn.relu(x @ w1 + b1) @ w2 + b2) * scoring.TEMPERATURE)
    assert bits(scoring.probabilities(x, *model)) == bits(tf.nn.softmax(scores))
    assert scoring.chosen(x, *model).numpy().tolist() == np.argmax(scores.numpy(), axis=1).tolist()


def test_a_module_level_tensor_is_read_at_each_call(monkeypatch):
    x, model = offers(5), shop.demo.weights()
    before = scoring.logits(x, *model)
    monkeypatch.setattr(scoring, "TEMPERATURE", tf.constant([1.0, 2.0, 4.0]))
    assert bits(scoring.logits(x, *model)) == bits(before * 2.0)


def test_features():
    x = offers(9)
    mean, scale = tf.reduce_mean(x, axis=0), tf.constant([0.5, 1.0, 2.0, 4.0, 8.0, 16.0])
    assert bits(features.standardise(x, mean, scale)) == bits((x - mean) / scale)
    assert bits(features.squashed(x)) == bits(tf.tanh(x / 3.0) * 3.0)
    np.testing.assert_allclose(features.squashed(np.ones((1, 2), np.float32)), 0.9645383, rtol=1e-5)


def test_prices():
    assert pricing.discounted(2.0, 0) == 0.0
    assert pricing.discounted(2.0, 3) == 6.0
    assert pricing.discounted(2.0, 13, rate=0.5) == 25.0


def test_ranking(capsys):
    a, b = tf.zeros([2, 3]), tf.ones([2, 3])
    assert bits(ranking.blended(a, b)) == bits(tf.fill([2, 3], 0.75))
    assert bits(blend.announced(b)) == bits(b * 2.0)
    assert capsys.readouterr().out == "2 offers\n"


def test_plain_helpers():
    assert text.words("Two LAMPS") == ["two", "lamps"]
    assert text.shortened("Wheelbarrow", 6) == "Wheel…"
    assert scoring.Gate.name(2) == "buy"


@pytest.mark.parametrize("function", TYPED, ids=lambda function: function.__qualname__)
def test_functions_are_what_their_sources_say(function):
    assert function.__doc__
    assert list(inspect.signature(function).parameters)
    assert function.__annotations__["return"] is not None
    assert pickle.loads(pickle.dumps(function)) is function
    assert inspect.getsource(inspect.unwrap(function)).count("def ") == 1


def test_the_demo_runs(capsys):
    shop.demo.main()
    assert len(capsys.readouterr().out.splitlines()) == 4
