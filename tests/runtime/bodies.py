"""The Python bodies of the functions in artifact.cpp, as a user would write them. The artifact's spans name the lines of this file."""

from __future__ import annotations

import time

import tensorflow as tf

OFFSET = tf.constant([[1.0, 2.0], [3.0, 4.0]])


def identity(x):
    """Gives x back."""
    return x


def add(x, y):
    return x + y


def nothing():
    return None


def dense(x, w, b):
    return tf.nn.relu(tf.matmul(x, w) + b)


def numbers(n: int, f: float = 1.0, *, b: bool = False):
    return n * 2, f / 2, not b


def divide(n, d):
    return n // d


def add_offset(x):
    return x + OFFSET


def broken(x):
    return x


def total(x):
    return tf.reduce_sum(x, axis=[-1])


def scale(x, factor: float):
    return x * factor


def several(x):
    y = x + x
    return x, y, y


def square(x):
    return x * x


def spin(ms):
    time.sleep(ms / 1000)
    return ms


def fixed(x):
    return x


def proven():
    return -1


def read8(a, b, c, d, e, f, g, h):
    return None


def read1(a):
    return None


class Model:
    def method(x, w, b):
        return tf.nn.relu(tf.matmul(x, w) + b)
