"""Arguments that are no eager tensors of the annotated kind: refused by default, the body's business with on_mismatch="fallback"."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import offsets
import programs
import pytest
import tensorflow as tf
from observing import Watch, observed, same

import natif

refusing = natif.compile(programs.patient.python, require=True)


class Convertible:
    """Has TensorFlow's protocol for objects that become tensors."""

    def __tf_tensor__(self, dtype: Any = None, name: Any = None) -> Any:
        return tf.constant([[1.5, -0.5]], dtype)


class Array:
    """Has NumPy's protocol."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array([[1.5, -0.5]], dtype)


class Composite(tf.experimental.ExtensionType):
    """A composite tensor of the user's own."""

    values: tf.Tensor


@dataclasses.dataclass(frozen=True)
class Kind:
    """A wrong kind of argument and what refuses it."""

    name: str
    value: Any
    error: type[Exception]
    text: str


NO_TENSOR = "natif: expected a TensorFlow EagerTensor, got "
KINDS = [
    Kind("ndarray", np.array([[0.5, -1.0]], np.float32), TypeError, NO_TENSOR + "numpy.ndarray"),
    Kind("NumPy number", np.float32(0.5), TypeError, NO_TENSOR + "numpy.float32"),
    Kind("list", [[0.5, -1.0]], TypeError, NO_TENSOR + "list"),
    Kind("number", 0.5, TypeError, NO_TENSOR + "float"),
    Kind("None", None, TypeError, NO_TENSOR + "NoneType"),
    Kind("str", "text", TypeError, NO_TENSOR + "str"),
    Kind("Variable", tf.Variable([[0.5, -1.0]]), TypeError, NO_TENSOR + "tensorflow.ResourceVariable"),
    Kind("Keras variable", tf.keras.Variable([[0.5, -1.0]]), TypeError, NO_TENSOR + "keras.Variable"),
    Kind("RaggedTensor", tf.ragged.constant([[0.5, -1.0], [2.0]]), TypeError, NO_TENSOR + "tensorflow.RaggedTensor"),
    Kind("SparseTensor", tf.sparse.from_dense([[0.5, 0.0]]), TypeError, NO_TENSOR + "tensorflow.SparseTensor"),
    Kind(
        "IndexedSlices", tf.IndexedSlices(tf.constant([[0.5, -1.0]]), tf.constant([0])), TypeError, NO_TENSOR + "tensorflow.IndexedSlices"
    ),
    Kind("ExtensionType", Composite(tf.constant([[0.5]])), TypeError, NO_TENSOR),
    Kind("__tf_tensor__", Convertible(), TypeError, NO_TENSOR),
    Kind("__array__", Array(), TypeError, NO_TENSOR),
    Kind("float64", tf.constant([[0.5, -1.0]], tf.float64), ValueError, "natif: expected a float32 tensor, got float64"),
    Kind("float16", tf.constant([[0.5, -1.0]], tf.float16), ValueError, "natif: expected a float32 tensor, got float16"),
    Kind("bfloat16", tf.constant([[0.5, -1.0]], tf.bfloat16), ValueError, "natif: expected a float32 tensor, got bfloat16"),
    Kind("int32", tf.constant([[1, 2]]), ValueError, "natif: expected a float32 tensor, got int32"),
    Kind("string", tf.constant([["a", "b"]]), ValueError, "natif: expected a float32 tensor, got string"),
    Kind("rank 1", tf.constant([0.5, -1.0]), ValueError, "natif: expected a rank-2 tensor, got rank 1"),
    Kind("rank 0", tf.constant(0.5), ValueError, "natif: expected a rank-2 tensor, got rank 0"),
    Kind("rank 9", tf.zeros([1] * 9), ValueError, "natif: expected a rank-2 tensor, got rank 9"),
]
GOOD = tf.constant([[0.25, -2.0]])


@pytest.mark.situation(
    "Arguments",
    "Ragged, Sparse, IndexedSlices, Variable, NumPy, list, number, None, other dtypes and ranks",
    eager="converts, computes or fails",
    natif='TypeError or ValueError that names the remedy, before anything runs; the Python body with on_mismatch="fallback"',
)
@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
@pytest.mark.parametrize("position", [0, 1])
def test_kinds(kind: Kind, position: int) -> None:
    arguments = [GOOD, GOOD]
    arguments[position] = kind.value
    before = refusing.calls
    with pytest.raises(kind.error) as raised:
        refusing(*arguments)
    assert str(raised.value).startswith(kind.text)
    assert f"'{'xy'[position]}' of patient()" in str(raised.value)
    assert 'on_mismatch="fallback"' in str(raised.value)
    assert refusing.calls == before
    watch = Watch(programs.patient)
    same(programs.patient, *arguments)
    assert watch() == {"mismatch": 1}


@pytest.mark.situation(
    "Arguments",
    "NumPy numbers, bools and objects with __index__ or __float__ for int and float parameters",
    eager="computes with them",
    natif="takes them for the annotated type; a float for an int is a TypeError",
)
def test_numbers(x: Any) -> None:
    for n in (3, np.int64(3), np.int8(3), np.uint16(3), True):
        assert observed(programs.scaled, x, n) == observed(programs.scaled.python, x, int(n))
    for factor in (2, np.float32(0.1), np.float64(0.1), np.int32(-2), False, float("nan"), float("-inf")):
        assert observed(programs.scaled, x, 3, factor) == observed(programs.scaled.python, x, 3, float(factor))
    for wrong in (3.0, "3", None, x, [3]):
        with pytest.raises(TypeError, match=r"^natif: expected an int, got "):
            programs.scaled(x, wrong)


@pytest.mark.situation(
    "Arguments", "an int past 64 bits", eager="computes with Python's unbounded int", natif="OverflowError that names the parameter"
)
def test_large_numbers() -> None:
    assert programs.whole(2**63 - 1, 5) == programs.whole.python(2**63 - 1, 5)
    for huge in (2**63, -(2**63) - 1, 10**40):
        with pytest.raises(OverflowError, match=r"^natif: .*64 bits for 'n' of whole\(\)"):
            programs.whole(huge, 5)


@pytest.mark.situation(
    "Arguments", "wrong count or names of arguments", eager="Python's TypeError", natif="the same TypeError, word for word"
)
def test_wrong_arguments(x: Any, w: Any) -> None:
    calls = [((), {}), ((x,), {}), ((x, w, w, w), {}), ((x, w), {"c": w}), ((x, w), {"x": x}), ((x,), {"b": w})]
    for args, keywords in calls:
        mine = observed(programs.dense, *args, **keywords)
        assert mine == observed(programs.dense.python, *args, **keywords)
        assert mine[:2] == ("error", "TypeError")


@pytest.mark.situation(
    "Arguments", "the same tensor twice, returned, empty or of one element", eager="computes", natif="the same bits and objects"
)
def test_aliases_and_sizes(draw: Any) -> None:
    x = draw(3, 3)
    assert programs.same(x) is x
    same(programs.dense, x, x, x[0])
    for shape in ((0, 4), (4, 0), (0, 0), (1, 1)):
        value = draw(*shape)
        for function in (programs.pair, offsets.with_offset if shape[1] == 1 else programs.pair):
            same(function, value)


@pytest.mark.situation(
    "Arguments", "memory that TensorFlow shares with NumPy or DLPack, at any alignment", eager="reads it in place", natif="the same bits"
)
def test_shared_memory(draw: Any) -> None:
    array = np.arange(21, dtype=np.float32).reshape(7, 3) / 7 - 1
    shared = tf.experimental.dlpack.from_dlpack(tf.experimental.dlpack.to_dlpack(tf.constant(array)))
    big = draw(9, 7)
    views = [shared, tf.constant(array[1:, 1:]), tf.identity(big[1:, 1:]), tf.split(big, [3, 6])[1], tf.reshape(big, (7, 9))]
    for value in views:
        same(programs.pair, value)
