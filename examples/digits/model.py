"""The model: a perceptron with one hidden layer over standardised pixels, as two typed TensorFlow functions that natif makes native.

Shapes: x [batch, 64], mean and scale [64], w1 [64, 64], b1 [64], w2 [64, 10], b2 [10].
"""

import tensorflow as tf

import natif
from natif.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


@natif.native
def probabilities(
    x: TensorF32Cpu2D,
    mean: TensorF32Cpu1D,
    scale: TensorF32Cpu1D,
    w1: TensorF32Cpu2D,
    b1: TensorF32Cpu1D,
    w2: TensorF32Cpu2D,
    b2: TensorF32Cpu1D,
) -> TensorF32Cpu2D:
    """Each image's probability of being each digit, [batch, 10]."""
    standardised = (x - mean) / scale
    hidden = tf.nn.relu(tf.nn.bias_add(tf.matmul(standardised, w1), b1))
    return tf.nn.softmax(tf.nn.bias_add(tf.matmul(hidden, w2), b2), axis=1)


@natif.native
def score(
    x: TensorF32Cpu2D,
    mean: TensorF32Cpu1D,
    scale: TensorF32Cpu1D,
    w1: TensorF32Cpu2D,
    b1: TensorF32Cpu1D,
    w2: TensorF32Cpu2D,
    b2: TensorF32Cpu1D,
) -> TensorI64Cpu1D:
    """Each image's most probable digit, [batch]."""
    standardised = (x - mean) / scale
    hidden = tf.nn.relu(tf.nn.bias_add(tf.matmul(standardised, w1), b1))
    return tf.argmax(tf.nn.softmax(tf.nn.bias_add(tf.matmul(hidden, w2), b2), axis=1), axis=1)
