"""What rextio-tensorflow 0.1.0 and 0.1.3 say of themselves, as programs: the forms that they accept, the forms that they refuse for no
deep reason, and those that stay refused. Expressions are over x2, y2, z2 [r, c], w2 [c, k], x1, y1, b1 [c] (float32) and i1 (int64)."""

from __future__ import annotations

import importlib
import itertools
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import tensorflow as tf

ARITHMETIC = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
PAIRS = [("x2", "y2"), ("x1", "y1"), ("x2", "b1"), ("b1", "x2")]

ACCEPTED = [
    "tf.matmul(x2, w2)",
    "tf.linalg.matmul(x2, w2)",
    *(f"tf.nn.{op}({x})" for op in ("relu", "sigmoid", "tanh") for x in ("x1", "x2")),
    *(f"tf.{op}({x})" for op in ("abs", "negative", "square", "exp", "math.log", "math.sqrt") for x in ("x1", "x2")),
    *(f"tf.{prefix}{op}({a}, {b})" for op in ARITHMETIC for prefix in ("", "math.") for a, b in PAIRS),
    *(f"{a} {operator} {b}" for operator in ARITHMETIC.values() for a, b in PAIRS),
    *(f"tf.{op}({a}, {b})" for op in ("maximum", "minimum") for a, b in PAIRS[:2]),
    *(
        f"tf.{reduce}(x2, {rest})"
        for reduce in ("reduce_mean", "reduce_sum", "math.reduce_mean", "math.reduce_sum")
        for rest in ("axis=0", "axis=1", "0", "1, keepdims=True", "axis=0, keepdims=True", "1, keepdims=False")
    ),
    "tf.nn.softmax(x1)",
    "tf.nn.softmax(x1, axis=0)",
    "tf.nn.softmax(x1, 0)",
    "tf.nn.softmax(x2, axis=1)",
    "tf.nn.softmax(x2, 1)",
    *(f"tf.argmax(x2, {axis})" for axis in ("axis=0", "axis=1", "0", "1")),
    "tf.transpose(x2)",
    "tf.nn.bias_add(x2, b1)",
    "tf.nn.bias_add(x2, b1, data_format='NHWC')",
]

# Refused by the seeds: other keywords and spellings, axes, ranks, formats, dtypes of results and scalar operands.
REFUSED_FOR_NO_DEEP_REASON = [
    "tf.matmul(x2, z2, transpose_b=True)",
    "tf.matmul(x2, z2, transpose_a=True)",
    "tf.matmul(a=x2, b=w2)",
    "x2 @ w2",
    "tf.reduce_mean(x2)",
    "tf.reduce_mean(x2, 0, True)",
    "tf.reduce_mean(x1, axis=0)",
    "tf.reduce_sum(x2, axis=-1)",
    "tf.reduce_sum(x2, axis=[0, 1])",
    "tf.reduce_max(x2, axis=1)",
    "tf.nn.softmax(x2)",
    "tf.nn.softmax(x2, axis=0)",
    "tf.argmax(x2)",
    "tf.argmax(x1, axis=0)",
    "tf.argmax(x2, axis=1, output_type=tf.int32)",
    "tf.nn.bias_add(x2, b1, data_format='NCHW')",
    "tf.maximum(x2, b1)",
    "tf.minimum(b1, x2)",
    "tf.math.maximum(x2, y2)",
    "tf.math.minimum(x1, y1)",
    "tf.math.truediv(x2, y2)",
    "tf.math.abs(x2)",
    "tf.sigmoid(x2)",
    "tf.tanh(x1)",
    "tf.sqrt(x2)",
    "tf.nn.relu(features=x2)",
    "tf.add(x=x2, y=y2, name='sum')",
    "tf.add(x2, 1.5)",
    "2 * x2",
    "x1 / 3",
    "-x2",
    "abs(x1)",
    "tf.transpose(x2, perm=[0, 1])",
    "tf.transpose(x1)",
]

# expression, outcome and a word of the message. Eager raises for the Rejected ones too, except for an int64 tensor alone.
REFUSED = [
    ("tf.matmul(x1, w2)", "Rejected", "rank"),
    ("tf.reduce_sum(x2, axis=2)", "Rejected", "axis"),
    ("tf.reduce_sum(x2, 0, axis=0)", "Rejected", "axis"),
    ("tf.nn.softmax(x1, axis=1)", "Rejected", "axis"),
    ("tf.argmax(x2, axis=2)", "Rejected", "axis"),
    ("tf.nn.relu(i1)", "Rejected", "int64"),
    ("x1 + i1", "Rejected", "int64"),
    ("tf.matmul(x2, w2, transpose_c=True)", "Rejected", "transpose_c"),
    ("tf.cos(x2)", "NotCovered", "tf.cos"),
    ("x2.__matmul__(w2)", "NotCovered", "__matmul__"),
    ("tf.raw_ops.MatMul(a=x2, b=w2)", "NotCovered", "tf.raw_ops.MatMul"),
]

MARKERS = {"x2": "TensorF32Cpu2D", "y2": "TensorF32Cpu2D", "z2": "TensorF32Cpu2D", "w2": "TensorF32Cpu2D"} | {
    "x1": "TensorF32Cpu1D",
    "y1": "TensorF32Cpu1D",
    "b1": "TensorF32Cpu1D",
    "i1": "TensorI64Cpu1D",
}
SPECIAL = np.array([0.0, -0.0, 1e-40, -1e-40, np.inf, -np.inf, np.nan, 3e38, 88.8, -87.4], np.float32)


def names_in(expression: str) -> list[str]:
    return sorted(set(re.findall(r"\b(?:[xyzw]2|[xyb]1|i1)\b", expression)))


def result_marker(expression: str) -> str:
    result = eval(expression, {"tf": tf}, values(3, 4, 4, special=False))
    dtype = {"float32": "F32", "int64": "I64", "int32": "I32"}[result.dtype.name]
    return f"Tensor{dtype}Cpu{result.shape.rank}D"


def source_of(expressions: list[str]) -> str:
    """A module with one function for each expression, f0, f1, …"""
    functions = (
        f"def f{number}({', '.join(f'{name}: {MARKERS[name]}' for name in names_in(text))}) -> {result_marker(text)}:\n    return {text}\n"
        for number, text in enumerate(expressions)
    )
    return "import tensorflow as tf\nfrom natif.types import *\n\n" + "\n".join(functions)


def values(rows: int, columns: int, products: int, special: bool = True, seed: int = 0) -> dict[str, Any]:
    """Tensors for the names; a sixth of their elements is special where asked for."""
    rng = np.random.default_rng(seed)

    def tensor(*shape: int) -> tf.Tensor:
        plain = (rng.standard_normal(shape) * 2).astype(np.float32)
        chosen = rng.random(shape) < (1 / 6 if special else 0)
        return tf.constant(np.where(chosen, rng.choice(SPECIAL, shape), plain))

    matrices = {name: tensor(rows, columns) for name in ("x2", "y2", "z2")}
    vectors = {name: tensor(columns) for name in ("x1", "y1", "b1")}
    return {**matrices, "w2": tensor(columns, products), **vectors, "i1": tf.constant([3, 0, 9], tf.int64)}


_numbers = itertools.count()


@contextmanager
def imported(folder: Path, source: str) -> Iterator[ModuleType]:
    """The module of a source, under a name of its own."""
    name = f"seed_program_{os.getpid()}_{next(_numbers)}"
    (folder / f"{name}.py").write_text(source, encoding="utf-8")
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop(name, None)


def outcome(function: Any, arguments: dict[str, Any]) -> Any:
    """The results as arrays, or the class of the error."""
    try:
        result = function(**arguments)
    except Exception as error:
        return type(error)
    return [each.numpy() for each in result] if isinstance(result, tuple) else result.numpy()


def same(one: Any, other: Any) -> bool:
    """Equal errors; or equal dtypes, shapes and bits, where one NaN is as good as another."""
    if isinstance(one, type) or isinstance(other, type):
        return one is other
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    nan = np.isnan(one)
    return bool((nan == np.isnan(other)).all()) and one[~nan].tobytes() == other[~nan].tobytes()
