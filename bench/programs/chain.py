"""A long chain: one matmul, relu, then rounds of relu or sigmoid followed by tanh, softmax, argmax."""

# ruff: noqa: SIM108 (branches of statements belong to what is measured)

import tensorflow as tf

from natif.types import TensorF32Cpu2D, TensorI64Cpu1D


def chain(x: TensorF32Cpu2D, w: TensorF32Cpu2D, rounds: int) -> TensorI64Cpu1D:
    h = tf.nn.relu(tf.matmul(x, w))
    for i in range(rounds):
        if i % 6 == 0:
            h = tf.nn.sigmoid(h)
        else:
            h = tf.nn.relu(h)
        h = tf.nn.tanh(h)
    p = tf.nn.softmax(h, axis=1)
    return tf.argmax(p, axis=1)


def probabilities(x: TensorF32Cpu2D, w: TensorF32Cpu2D, rounds: int) -> TensorF32Cpu2D:
    h = tf.nn.relu(tf.matmul(x, w))
    for i in range(rounds):
        if i % 6 == 0:
            h = tf.nn.sigmoid(h)
        else:
            h = tf.nn.relu(h)
        h = tf.nn.tanh(h)
    return tf.nn.softmax(h, axis=1)
