"""Functions that do next to nothing, whose differences are the costs of the boundary: of a call, an argument, a result."""

import tensorflow as tf

from natif.types import TensorF32Cpu1D


def empty(n: int) -> int:
    return n


def same(a: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return a


def one(a: TensorF32Cpu1D) -> TensorF32Cpu1D:
    return tf.nn.relu(a)


def eight(
    a: TensorF32Cpu1D,
    b: TensorF32Cpu1D,
    c: TensorF32Cpu1D,
    d: TensorF32Cpu1D,
    e: TensorF32Cpu1D,
    f: TensorF32Cpu1D,
    g: TensorF32Cpu1D,
    h: TensorF32Cpu1D,
) -> TensorF32Cpu1D:
    return tf.nn.relu(a)
