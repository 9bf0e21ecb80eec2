"""Small-batch scoring with scalar control flow: normalise, a feature affine, rounds of relu or tanh, a head, softmax, argmax."""

# ruff: noqa: SIM108 (branches of statements belong to what is measured)

import tensorflow as tf

from natif.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def small_batch(
    x: TensorF32Cpu2D,
    mean: TensorF32Cpu1D,
    scale: TensorF32Cpu1D,
    gain: TensorF32Cpu1D,
    offset: TensorF32Cpu1D,
    w: TensorF32Cpu2D,
    b: TensorF32Cpu1D,
    rounds: int,
) -> TensorI64Cpu1D:
    h = (x - mean) / scale * gain + offset
    for i in range(rounds):
        if i % 2 == 0:
            h = tf.nn.tanh(h)
        else:
            h = tf.nn.relu(h)
    p = tf.nn.softmax(tf.nn.bias_add(tf.matmul(h, w), b), axis=1)
    return tf.argmax(p, axis=1)


def probabilities(
    x: TensorF32Cpu2D,
    mean: TensorF32Cpu1D,
    scale: TensorF32Cpu1D,
    gain: TensorF32Cpu1D,
    offset: TensorF32Cpu1D,
    w: TensorF32Cpu2D,
    b: TensorF32Cpu1D,
    rounds: int,
) -> TensorF32Cpu2D:
    h = (x - mean) / scale * gain + offset
    for i in range(rounds):
        if i % 2 == 0:
            h = tf.nn.tanh(h)
        else:
            h = tf.nn.relu(h)
    return tf.nn.softmax(tf.nn.bias_add(tf.matmul(h, w), b), axis=1)
