"""What must hold with every TensorFlow that natif knows: a scoring function gives eager's bits in every lane, the boundary refuses what it
has to, tapes and graphs see the Python body, and errors are eager's. Run by scripts/tf_versions.py in an environment with that TensorFlow
and natif's wheel; prints one line of JSON with what it found.
"""

import importlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["NATIF_TESTING"] = "1"

import numpy as np
import tensorflow as tf

PROGRAM = """
import tensorflow as tf
from natif.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D

def score(
    x: TensorF32Cpu2D, mean: TensorF32Cpu1D, scale: TensorF32Cpu1D,
    w1: TensorF32Cpu2D, b1: TensorF32Cpu1D, w2: TensorF32Cpu2D, b2: TensorF32Cpu1D, rounds: int,
) -> tuple[TensorF32Cpu2D, TensorI64Cpu1D]:
    h = tf.nn.relu(tf.nn.bias_add(tf.matmul((x - mean) / scale, w1), b1))
    for _ in range(rounds):
        h = tf.tanh(h) + tf.reduce_mean(h, axis=1, keepdims=True)
    p = tf.nn.softmax(tf.nn.bias_add(tf.matmul(h, w2), b2))
    return p, tf.argmax(p, axis=1)

def classes(c: TensorI64Cpu1D) -> TensorI64Cpu1D:
    return c
"""


def refused(error: type[Exception], text: str, function: Any, *arguments: Any) -> None:
    """The call has to raise this error with this text."""
    try:
        function(*arguments)
    except error as raised:
        found = str(raised)
    else:
        found = "nothing"
    assert text in found, f"{text!r} was not raised, but {found}"


def score_is_eagers(native: Any, body: Any, weights: list[Any]) -> None:
    rng = np.random.default_rng(2)
    for batch in (0, 1, 2, 7, 16, 128):
        x = tf.constant(rng.standard_normal((batch, 64)).astype(np.float32))
        for rounds in (0, 2):
            mine, theirs = native(x, *weights, rounds), body(x, *weights, rounds)
            assert all(a.numpy().tobytes() == b.numpy().tobytes() for a, b in zip(mine, theirs, strict=True)), (batch, rounds)
    assert native.calls["python"] == {}, native.calls


def main() -> None:
    import natif
    from natif import _runtime

    folder = tempfile.mkdtemp()
    Path(folder, "smoke_program.py").write_text(PROGRAM, encoding="utf-8")
    sys.path.insert(0, folder)
    program = importlib.import_module("smoke_program")
    rng = np.random.default_rng(1)
    shapes = [(64,), (64,), (64, 64), (64,), (64, 10), (10,)]
    weights = [tf.constant(rng.uniform(0.5, 1.5, shape).astype(np.float32) - (0.5 if len(shape) > 1 else 0)) for shape in shapes]
    lanes = {lane: natif.native(lane=lane, require=True)(program.score) for lane in ("auto", "tfe", "fused")}
    for native in lanes.values():
        score_is_eagers(native, program.score, weights)
    score = lanes["auto"]
    x = tf.constant(rng.standard_normal((3, 64)).astype(np.float32))

    refused(ValueError, "expected a float32 tensor, got float64", score, tf.cast(x, tf.float64), *weights, 1)
    refused(ValueError, "expected a rank-2 tensor, got rank 1", score, x[0], *weights, 1)
    refused(TypeError, "expected a TensorFlow EagerTensor", score, x.numpy(), *weights, 1)
    refused(TypeError, "expected a TensorFlow EagerTensor", score, tf.Variable(x), *weights, 1)
    refused(tf.errors.InvalidArgumentError, "", score, x[:, :9], *weights, 1)

    with tf.GradientTape() as tape:
        tape.watch(x)
        p, _ = score(x, *weights, 1)
    with tf.GradientTape() as expected:
        expected.watch(x)
        q, _ = program.score(x, *weights, 1)
    assert np.array_equal(tape.gradient(p, x), expected.gradient(q, x))
    graph = tf.function(lambda value: score(value, *weights, 1))
    assert all(np.allclose(a, b, atol=1e-5) for a, b in zip(graph(x), program.score(x, *weights, 1), strict=True))
    assert score.calls["python"] == {"failed": 1, "tape": 1, "graph": 1}, score.calls

    native_classes, c = natif.compile(program.classes, require=True), tf.constant([3, 1], tf.int64)
    assert native_classes(c) is c
    # "matmul" and "matmul@eigen" are one rule on two classes of machines.
    checked = _runtime.self_check()
    holding = {rule.partition("@")[0] for rule, holds in checked.items() if holds}
    refuted = sorted({rule.partition("@")[0] for rule in checked} - holding)
    print(json.dumps({"version": tf.__version__, "numpy": np.__version__, "refuted_rules": refuted}))


if __name__ == "__main__":
    main()
