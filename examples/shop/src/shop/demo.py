"""The command shop-demo: ranks four offers."""

import numpy as np
import tensorflow as tf

from shop import features, pricing, scoring, text


def weights(seed: int = 7, columns: int = 6, hidden: int = 16) -> tuple[tf.Tensor, ...]:
    """A model of random weights: w1, b1, w2, b2."""
    random = np.random.default_rng(seed)
    shapes = [(columns, hidden), (hidden,), (hidden, 3), (3,)]
    return tuple(tf.constant(random.normal(size=shape).astype(np.float32)) for shape in shapes)


def main() -> None:
    """Prints each offer with its class and its price."""
    x = tf.constant(np.random.default_rng(1).normal(size=(4, 6)).astype(np.float32))
    x = features.standardise(x, tf.reduce_mean(x, axis=0), tf.fill([6], 2.0))
    for index, name in zip(scoring.chosen(x, *weights()).numpy(), ("Lamp", "Kettle", "Wheelbarrow", "Thermometer"), strict=True):
        print(f"{text.shortened(name, 10):<12}{scoring.CLASSES[index]:<8}{pricing.discounted(9.5, 30):.2f}")
