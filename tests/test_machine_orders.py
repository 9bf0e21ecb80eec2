"""Native functions on every machine class: fused, eager's bits, and left to TensorFlow where no rule holds.

TensorFlow and oneDNN read their settings once, so each class is a process of its own; see tests/exactness for the rules themselves.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SETTINGS = ["TF_ENABLE_ONEDNN_OPTS", "ONEDNN_MAX_CPU_ISA", "NATIF_FORCE_RULES"]
CLASSES = {
    "oneDNN on": {"TF_ENABLE_ONEDNN_OPTS": "1"},
    "oneDNN off": {"TF_ENABLE_ONEDNN_OPTS": "0"},
    "oneDNN off, AVX2": {"TF_ENABLE_ONEDNN_OPTS": "0", "ONEDNN_MAX_CPU_ISA": "AVX2"},
    "oneDNN on, AVX2": {"TF_ENABLE_ONEDNN_OPTS": "1", "ONEDNN_MAX_CPU_ISA": "AVX2"},
    "no rule for products": {
        "NATIF_FORCE_RULES": ",".join(f"matmul{kind}=0" for kind in ("", "@avx2", "@eigen-vector", "@eigen", "@eigen-avx2"))
    },
    "no rule for softmax": {"NATIF_FORCE_RULES": "softmax=0,softmax@eigen=0"},
}
#: The classes whose softmax follows no rule that natif knows.
WITHOUT_SOFTMAX = {"oneDNN on, AVX2", "no rule for softmax"}

PROGRAM = """
import json, os
import numpy as np, tensorflow as tf
import natif
from natif import _runtime
from natif.types import *

native = natif.native(require=True)


@native
def classes(
    x: TensorF32Cpu2D, mean: TensorF32Cpu1D, scale: TensorF32Cpu1D,
    w1: TensorF32Cpu2D, b1: TensorF32Cpu1D, w2: TensorF32Cpu2D, b2: TensorF32Cpu1D,
) -> TensorI64Cpu1D:
    h = tf.nn.relu(tf.nn.bias_add(tf.matmul((x - mean) / scale, w1), b1))
    return tf.argmax(tf.nn.softmax(tf.nn.bias_add(tf.matmul(h, w2), b2)), axis=1)


@native
def probabilities(
    x: Tensor["float32", ("batch", 64)], w: Tensor["float32", (64, 10)], b: Tensor["float32", (10,)]
) -> Tensor["float32", ("batch", 10)]:
    return tf.nn.softmax(tf.matmul(x, w) + b)


@native
def hidden(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return tf.nn.relu(tf.matmul(x, w) + b)


@native
def turned(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return tf.tanh(tf.matmul(x, w, transpose_b=True) + b)


@native
def turned_left(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.matmul(x, w, transpose_a=True)


@native
def product(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.matmul(x, w)


@native
def product_turned(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.matmul(x, w, transpose_b=True)


@native
def product_both_turned(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.matmul(x, w, transpose_a=True, transpose_b=True)


@native
def dense(x: TensorF32Cpu3D, w: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu3D:
    return tf.sigmoid(tf.matmul(x, w) + b)


@native
def dense_turned(x: TensorF32Cpu4D, w: TensorF32Cpu2D) -> TensorF32Cpu4D:
    return tf.matmul(x, w, transpose_b=True)


@native
def pooled(x: TensorF32Cpu4D) -> TensorF32Cpu2D:
    return tf.reduce_mean(tf.nn.relu(x), axis=[1, 2]) + tf.reduce_max(x, axis=(1, 2))


@native
def moments(x: TensorF32Cpu3D) -> TensorF32Cpu3D:
    return (x - tf.reduce_mean(x, axis=1, keepdims=True)) * tf.reduce_sum(x, axis=[0, 2], keepdims=True)


@native
def loss(x: TensorF32Cpu2D) -> TensorF32Cpu0D:
    return tf.reduce_mean(x)


rng = np.random.default_rng(1)


def draw(*shape):
    return tf.constant(rng.standard_normal(shape).astype(np.float32))


def zeros(*shape, sign=1):
    return tf.constant(np.copysign(np.zeros(shape, np.float32), np.float32(sign)))


# Sums of zeros, whose sign tells where eager's accumulators start.
zero_sums = []
for m in (1, 2, 3, 9):
    for k in (1, 2, 3, 8, 15, 17, 40):
        for n in (1, 2, 9):
            for weight in (1, -1):
                zero_sums += [(product, (zeros(m, k), weight * tf.ones((k, n)))), (product_turned, (zeros(m, k), weight * tf.ones((n, k))))]
                zero_sums += [(turned_left, (zeros(k, m), weight * tf.ones((k, n))))]
                zero_sums += [(product_both_turned, (zeros(k, m, sign=-1), weight * tf.ones((n, k))))]

different = []
for batch in (1, 2, 3, 7, 8, 15, 16, 17, 24, 33, 50, 72, 100, 128, 1000):
    x, digits = draw(batch, 32), draw(batch, 64)
    mean, scale = draw(32), tf.abs(draw(32)) + 0.5
    calls = [
        (classes, (x, mean, scale, draw(32, 64), draw(64), draw(64, 8), draw(8))),
        (probabilities, (digits, draw(64, 10), draw(10))),
        (turned_left, (draw(32, batch), draw(32, 9))),
        (dense_turned, (draw(2, 3, batch, 20), draw(7, 20))),
        (pooled, (draw(batch, 5, 7, 9),)),
        (moments, (draw(3, batch, 10),)),
        (loss, (draw(batch, 50),)),
    ]
    for n in (1, 2, 10, 17, 64):
        calls += [(dense, (draw(2, batch, 32), draw(32, n), draw(n)))]
        calls += [(hidden, (x, draw(32, n), draw(n))), (turned, (x, draw(n, 32), draw(n)))]
    if batch == 1:
        calls += zero_sums
        calls += [(product, (draw(m, k), draw(k, n))) for m, k, n in ((501, 5, 665), (512, 4, 600), (768, 8, 513), (500, 5, 500))]
    for function, arguments in calls:
        mine, theirs = np.asarray(function(*arguments)), np.asarray(function.python(*arguments))
        if mine.dtype != theirs.dtype or mine.tobytes() != theirs.tobytes():
            different.append([function.__name__, batch, [list(a.shape) for a in arguments]])
lanes = {f.__name__: f.report.lane for f in (classes, probabilities, hidden, turned, dense, loss)}
print(json.dumps({"different": different, "rules": _runtime.self_check(), "lanes": lanes}))
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("orders") / "machine_orders_program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


def run(program: Path, settings: dict[str, str]) -> dict[str, object]:
    environment = (
        {key: value for key, value in os.environ.items() if key not in SETTINGS} | settings | {"NATIF_CACHE_DIR": str(program.parent)}
    )
    result = subprocess.run([sys.executable, str(program)], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-4000:]
    return json.loads(result.stdout.splitlines()[-1])  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", list(CLASSES))
def test_functions_give_eagers_bits(name: str, program: Path) -> None:
    outcome = run(program, CLASSES[name])
    assert outcome["different"] == []
    rules, lanes = outcome["rules"], outcome["lanes"]
    assert isinstance(rules, dict)
    assert isinstance(lanes, dict)
    products = any(holds for rule, holds in rules.items() if rule.startswith("matmul"))
    softmax = any(holds for rule, holds in rules.items() if rule.startswith("softmax"))
    assert products == (name != "no rule for products")
    assert softmax == (name not in WITHOUT_SOFTMAX)
    assert lanes["loss"] == "fused"
    assert lanes["dense"] == ("fused" if rules["batch_matmul"] else "mixed")
    assert lanes["hidden"] == ("fused" if products else "mixed")
    assert lanes["probabilities"] == ("fused" if products and softmax else "mixed")
