"""The model: one hidden layer, and the classes that it tells apart."""

import tensorflow as tf

from natif.types import TensorF32Cpu1D, TensorF32Cpu2D, TensorI64Cpu1D

CLASSES = ("ignore", "look", "buy")

TEMPERATURE: TensorF32Cpu1D = tf.constant([0.5, 1.0, 2.0])
AXIS = 1


def logits(x: TensorF32Cpu2D, w1: TensorF32Cpu2D, b1: TensorF32Cpu1D, w2: TensorF32Cpu2D, b2: TensorF32Cpu1D) -> TensorF32Cpu2D:
    """The scores of each offer, before softmax."""
    hidden = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w1), b1))
    return tf.nn.bias_add(tf.matmul(hidden, w2), b2) * TEMPERATURE


def probabilities(x: TensorF32Cpu2D, w1: TensorF32Cpu2D, b1: TensorF32Cpu1D, w2: TensorF32Cpu2D, b2: TensorF32Cpu1D) -> TensorF32Cpu2D:
    """How likely each class is."""
    return tf.nn.softmax(logits(x, w1, b1, w2, b2))


def chosen(x: TensorF32Cpu2D, w1: TensorF32Cpu2D, b1: TensorF32Cpu1D, w2: TensorF32Cpu2D, b2: TensorF32Cpu1D) -> TensorI64Cpu1D:
    """The likeliest class of each offer."""
    return tf.argmax(logits(x, w1, b1, w2, b2), axis=AXIS)


class Gate:
    """Functions that belong together."""

    @staticmethod
    def name(index: int) -> str:
        """The class's name."""
        return CLASSES[index]
