"""Two wide dense layers: the work is in two large matmuls, where TensorFlow's own kernels are at home."""

import tensorflow as tf

from natif.types import TensorF32Cpu1D, TensorF32Cpu2D


def dense(x: TensorF32Cpu2D, w1: TensorF32Cpu2D, b1: TensorF32Cpu1D, w2: TensorF32Cpu2D, b2: TensorF32Cpu1D) -> TensorF32Cpu2D:
    h = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w1), b1))
    return tf.nn.relu(tf.nn.bias_add(tf.matmul(h, w2), b2))
