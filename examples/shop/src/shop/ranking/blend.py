"""Blends two rankings."""

import tensorflow as tf

import natif
from natif.types import Tensor, TensorF32Cpu2D


@natif.native
def blended(a: Tensor["float32", ("offers", 3)], b: Tensor["float32", ("offers", 3)], rounds: int = 2) -> TensorF32Cpu2D:  # noqa: F821
    """Pulls `a` towards `b`, half of the way in each round."""
    mixed = a
    for _ in range(rounds):
        mixed = (mixed + b) * 0.5
    return tf.maximum(mixed, 0.0)


@natif.native
def announced(a: TensorF32Cpu2D) -> TensorF32Cpu2D:
    """Stays Python: it prints."""
    print(f"{a.shape[0]} offers")
    return a * 2.0
