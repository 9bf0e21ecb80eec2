"""The native functions that the tests of situations call: one for each kind of thing that a situation can change. Importing it makes no
tensor, so TensorFlow's context is not there yet.
"""

import tensorflow as tf

import natif
from natif.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D

native = natif.native(require=True)
tolerant = natif.native(require=True, on_mismatch="fallback")


@native
def dense(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorF32Cpu2D:
    return tf.sigmoid(tf.nn.bias_add(tf.matmul(x, w), b))


@native
def classes(x: TensorF32Cpu2D, w: TensorF32Cpu2D, b: TensorF32Cpu1D) -> TensorI64Cpu1D:
    return tf.argmax(tf.nn.softmax(tf.nn.relu(tf.matmul(x, w)) + b), axis=1)


@native
def pair(x: TensorF32Cpu2D) -> tuple[TensorF32Cpu2D, TensorF32Cpu1D]:
    y = tf.tanh(x) * x
    return y, tf.reduce_sum(y, axis=1)


@native
def same(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x


@native
def quotient(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return x / y


@native
def scaled(x: TensorF32Cpu2D, n: int, factor: float = 2.0) -> TensorF32Cpu2D:
    y = x
    if n > 2:
        y = tf.nn.relu(y)
    for _ in range(n):
        y = tf.tanh(y) * factor
    return y


@native
def whole(n: int, d: int) -> int:
    total = n // d
    return total + 1


@native
def count(n: int) -> int:
    total = 0
    for i in range(n):
        total = (total + i) % 1000003
    return total


@native
def long_chain(x: TensorF32Cpu2D, steps: int) -> TensorF32Cpu2D:
    y = x
    for _ in range(steps):
        y = tf.tanh(y) + x
    return y


@tolerant
def patient(x: TensorF32Cpu2D, y: TensorF32Cpu2D) -> TensorF32Cpu2D:
    return tf.sigmoid(x) * y


@natif.native
def by_sign(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    if tf.reduce_sum(x) > 0:  # noqa: SIM108 (a statement, for AutoGraph to convert)
        y = tf.exp(x)
    else:
        y = -x
    return y
