"""A click model's tail: 256 features through dense layers of 256, 128 and 64 units to one probability."""

import tensorflow as tf

from natif.types import TensorF32Cpu1D, TensorF32Cpu2D


def mlp(
    x: TensorF32Cpu2D,
    w1: TensorF32Cpu2D,
    b1: TensorF32Cpu1D,
    w2: TensorF32Cpu2D,
    b2: TensorF32Cpu1D,
    w3: TensorF32Cpu2D,
    b3: TensorF32Cpu1D,
    w4: TensorF32Cpu2D,
    b4: TensorF32Cpu1D,
) -> TensorF32Cpu2D:
    h = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w1), b1))
    h = tf.nn.relu(tf.nn.bias_add(tf.matmul(h, w2), b2))
    h = tf.nn.relu(tf.nn.bias_add(tf.matmul(h, w3), b3))
    return tf.nn.sigmoid(tf.nn.bias_add(tf.matmul(h, w4), b4))
