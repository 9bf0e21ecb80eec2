"""One matmul, for the share of the core's FMA peak that its kernel reaches."""

import tensorflow as tf

from natif.types import TensorF32Cpu2D


def matmul(a: TensorF32Cpu2D, b: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.matmul(a, b)
