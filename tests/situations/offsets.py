"""A native function that reads a tensor of its module."""

import tensorflow as tf

import natif
from natif.types import TensorF32Cpu2D

OFFSET: TensorF32Cpu2D = tf.constant([[1.0, -2.0, 0.5]])


@natif.native(require=True)
def with_offset(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.exp(x) + OFFSET
