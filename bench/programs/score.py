"""Scoring: standardise, dense, relu, dense, softmax, argmax. 32 features, 64 hidden units, 8 classes."""

import tensorflow as tf

from natif.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D


def score(
    x: TensorF32Cpu2D,
    mean: TensorF32Cpu1D,
    scale: TensorF32Cpu1D,
    w1: TensorF32Cpu2D,
    b1: TensorF32Cpu1D,
    w2: TensorF32Cpu2D,
    b2: TensorF32Cpu1D,
) -> TensorI64Cpu1D:
    h = tf.nn.relu(tf.nn.bias_add(tf.matmul((x - mean) / scale, w1), b1))
    p = tf.nn.softmax(tf.nn.bias_add(tf.matmul(h, w2), b2), axis=1)
    return tf.argmax(p, axis=1)


def probabilities(
    x: TensorF32Cpu2D,
    mean: TensorF32Cpu1D,
    scale: TensorF32Cpu1D,
    w1: TensorF32Cpu2D,
    b1: TensorF32Cpu1D,
    w2: TensorF32Cpu2D,
    b2: TensorF32Cpu1D,
) -> TensorF32Cpu2D:
    h = tf.nn.relu(tf.nn.bias_add(tf.matmul((x - mean) / scale, w1), b1))
    return tf.nn.softmax(tf.nn.bias_add(tf.matmul(h, w2), b2), axis=1)
