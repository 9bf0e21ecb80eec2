"""Values that native code once got wrong, each beside eager's."""

import numpy as np
import pytest
import tensorflow as tf

import natif
from natif.types import TensorF32Cpu0D, TensorF32Cpu1D, TensorF32Cpu2D


@natif.native
def row_sums(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_sum(x, axis=1)


@natif.native
def row_means(x: TensorF32Cpu2D) -> TensorF32Cpu1D:
    return tf.reduce_mean(x, axis=1)


@natif.native
def sum_of_all(x: TensorF32Cpu1D) -> TensorF32Cpu0D:
    return tf.reduce_sum(x)


def tiny(*shape: int) -> tf.Tensor:
    """Elements around the smallest normal number, so that many sums are flushed to a zero of either sign."""
    return tf.constant((np.random.default_rng(0).standard_normal(shape) * 1e-38).astype(np.float32))


def bits(tensor: tf.Tensor) -> list[int]:
    return tensor.numpy().view(np.int32).ravel().tolist()


@pytest.mark.parametrize("n", [2, 3, 7, 8, 9, 15, 17, 33, 41, 9001])
def test_sums_that_are_flushed_have_eagers_zero(n: int) -> None:
    x = tiny(500 if n < 100 else 40, n)
    for function in (row_sums, row_means):
        assert function.is_native
        assert bits(function(x)) == bits(function.python(x))


def test_sums_of_vectors_that_are_flushed_have_eagers_zero() -> None:
    assert sum_of_all.is_native
    for row in tiny(200, 7):
        assert bits(sum_of_all(row)) == bits(sum_of_all.python(row))


def test_static_and_class_methods_may_be_decorated_on_the_outside() -> None:
    class Scorer:
        @natif.native
        @staticmethod
        def doubled(n: int) -> int:
            return 2 * n

        @natif.native
        @classmethod
        def named(cls) -> str:
            return cls.__name__

    assert Scorer.doubled.is_native
    assert Scorer.doubled(4) == Scorer().doubled(4) == 8
    assert not Scorer.named.is_native
    assert Scorer.named() == "Scorer"


@pytest.mark.parametrize("value", [3, "score", None, [1]])
def test_what_cannot_be_called_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="natif: expected a function, got"):
        natif.compile(value)
