"""The data and the training: scikit-learn's 1,797 handwritten digits (8 × 8 pixels of 0 to 16), and plain TensorFlow with a tape."""

from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

HIDDEN = 64
EPOCHS = 30
BATCH = 32
LEARNING_RATE = 0.05
MOMENTUM = 0.9


@dataclass(frozen=True)
class Digits:
    """All images [1797, 64] and their digits [1797]; the first `training` of them, in this shuffled order, are trained on."""

    images: tf.Tensor
    digits: tf.Tensor
    training: int


def load(seed: int = 0) -> Digits:
    data = load_digits()
    order = np.random.default_rng(seed).permutation(len(data.target))
    images = tf.constant(data.data[order], tf.float32)
    return Digits(images, tf.constant(data.target[order], tf.int64), training=len(order) * 4 // 5)


def train(data: Digits, seed: int = 0) -> dict[str, tf.Tensor]:
    """The model's parameters by the names that model.py gives them, after stochastic gradient descent with momentum."""
    images, digits = data.images[: data.training], data.digits[: data.training]
    mean = tf.reduce_mean(images, axis=0)
    deviation = tf.math.reduce_std(images, axis=0)
    scale = tf.where(deviation > 0, deviation, 1.0)
    standardised = (images - mean) / scale
    rng = np.random.default_rng(seed)
    weights = [
        tf.Variable(rng.normal(0, np.sqrt(2 / 64), (64, HIDDEN)), dtype=tf.float32),
        tf.Variable(tf.zeros([HIDDEN])),
        tf.Variable(rng.normal(0, np.sqrt(2 / HIDDEN), (HIDDEN, 10)), dtype=tf.float32),
        tf.Variable(tf.zeros([10])),
    ]
    velocities = [tf.Variable(tf.zeros_like(weight)) for weight in weights]

    @tf.function
    def step(x: tf.Tensor, y: tf.Tensor) -> None:
        w1, b1, w2, b2 = weights
        with tf.GradientTape() as tape:
            logits = tf.matmul(tf.nn.relu(tf.matmul(x, w1) + b1), w2) + b2
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        for weight, velocity, gradient in zip(weights, velocities, tape.gradient(loss, weights), strict=True):
            velocity.assign(MOMENTUM * velocity - LEARNING_RATE * gradient)
            weight.assign_add(velocity)

    for _ in range(EPOCHS):
        order = rng.permutation(data.training)
        for start in range(0, data.training - BATCH + 1, BATCH):
            chosen = order[start : start + BATCH]
            step(tf.gather(standardised, chosen), tf.gather(digits, chosen))
    w1, b1, w2, b2 = (tf.convert_to_tensor(weight) for weight in weights)
    return {"mean": mean, "scale": scale, "w1": w1, "b1": b1, "w2": w2, "b2": b2}
