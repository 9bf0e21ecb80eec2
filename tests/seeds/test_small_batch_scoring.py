"""The small-batch scoring case of rextio-tensorflow 0.1.3 (normalise, feature affine, four relu or tanh rounds that a number chooses, head,
softmax, argmax; batches 1, 16 and 128, 32 features, 8 classes): logits, probabilities and classes are the same bits in Python and in every
lane."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from seed_programs import imported

import natif

FEATURES, CLASSES = 32, 8

SOURCE = """
import tensorflow as tf
from natif.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def score(
    x: TensorF32Cpu2D,
    mean: TensorF32Cpu1D,
    scale: TensorF32Cpu1D,
    gain: TensorF32Cpu1D,
    shift: TensorF32Cpu1D,
    weight: TensorF32Cpu2D,
    bias: TensorF32Cpu1D,
    head: TensorF32Cpu2D,
    head_bias: TensorF32Cpu1D,
    rounds: int,
    kind: int,
) -> tuple[TensorF32Cpu2D, TensorF32Cpu2D, TensorI64Cpu1D]:
    h = (x - mean) / scale
    h = h * gain + shift
    for _ in range(rounds):
        h = tf.nn.bias_add(tf.matmul(h, weight), bias)
        if kind == 0:
            h = tf.nn.relu(h)
        else:
            h = tf.nn.tanh(h)
    logits = tf.nn.bias_add(tf.matmul(h, head), head_bias)
    probabilities = tf.nn.softmax(logits, axis=1)
    return logits, probabilities, tf.argmax(probabilities, axis=1)
"""


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    with imported(tmp_path_factory.mktemp("scoring"), SOURCE) as module:
        lanes = {lane: natif.native(lane=lane, require=True)(module.score) for lane in ("auto", "tfe", "fused")}
        yield {"python": module.score, **lanes}


@pytest.fixture(scope="module")
def weights() -> list[tf.Tensor]:
    rng = np.random.default_rng(20)
    vectors = [rng.standard_normal(FEATURES), rng.uniform(0.5, 2, FEATURES), *rng.standard_normal((2, FEATURES))]
    hidden = [rng.standard_normal((FEATURES, FEATURES)) / 6, rng.standard_normal(FEATURES)]
    head = [rng.standard_normal((FEATURES, CLASSES)), rng.standard_normal(CLASSES)]
    return [tf.constant(values.astype(np.float32)) for values in [*vectors, *hidden, *head]]


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("batch", [1, 16, 128])
def test_the_same_bits_everywhere(functions: dict[str, Any], weights: list[tf.Tensor], batch: int, kind: int) -> None:
    x = tf.constant(np.random.default_rng(batch).standard_normal((batch, FEATURES)).astype(np.float32))
    results = {lane: [each.numpy() for each in function(x, *weights, 4, kind)] for lane, function in functions.items()}
    logits, probabilities, classes = results["python"]
    assert (logits.shape, probabilities.shape, classes.shape) == ((batch, CLASSES), (batch, CLASSES), (batch,))
    assert classes.dtype == np.int64
    assert batch == 1 or len(set(classes.tolist())) > 1
    for lane, found in results.items():
        assert [each.tobytes() for each in found] == [each.tobytes() for each in results["python"]], lane
    for lane in ("auto", "tfe", "fused"):
        assert functions[lane].calls["python"] == {}
