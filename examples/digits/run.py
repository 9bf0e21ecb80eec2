"""Trains the perceptron, then compares the native functions with their Python bodies on all 1,797 images: bits first, then time.

Usage: python examples/digits/run.py. Exits 1 where a function is not native or a bit differs.
"""

import os
import statistics
import sys
import time
from collections.abc import Callable

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

import training
from model import probabilities, score

BATCHES = (1, 16, 128, 1797)
ROUNDS = 15
SECONDS_A_ROUND = 0.02


def same_bits(left: tf.Tensor, right: tf.Tensor) -> bool:
    """Whether two results have one dtype and shape and every element the same bits."""
    a, b = left.numpy(), right.numpy()
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def batches(images: tf.Tensor, size: int) -> list[tf.Tensor]:
    """All images, in batches of `size`; the last one may be smaller."""
    return [images[start : start + size] for start in range(0, len(images), size)]


def equal_images(function: Callable[..., tf.Tensor], images: tf.Tensor, parameters: dict[str, tf.Tensor], size: int) -> int:
    """How many images are in batches whose native result has the bits of the Python body's."""
    return sum(
        len(batch) for batch in batches(images, size) if same_bits(function(batch, **parameters), function.python(batch, **parameters))
    )


def microseconds(contenders: list[Callable[[], object]]) -> list[float]:
    """The median time of a call of each contender, measured in turn, round after round, in this one process."""
    calls = []
    for contender in contenders:
        start = time.perf_counter()
        contender()
        contender()
        calls.append(max(2, int(SECONDS_A_ROUND / (time.perf_counter() - start) * 2)))
    rounds: list[list[float]] = [[] for _ in contenders]
    for _ in range(ROUNDS):
        for contender, count, times in zip(contenders, calls, rounds, strict=True):
            start = time.perf_counter()
            for _ in range(count):
                contender()
            times.append((time.perf_counter() - start) / count)
    return [statistics.median(times) * 1e6 for times in rounds]


def main() -> int:
    data = training.load()
    start = time.perf_counter()
    parameters = training.train(data)
    print(f"{len(data.images):,} handwritten digits, 64 -> 64 -> 10, trained on {data.training:,} in {time.perf_counter() - start:.1f} s")

    start = time.perf_counter()
    classes = score(data.images, **parameters)
    print(f"first call of score: {time.perf_counter() - start:.2f} s (the build, or the cache)")
    for function in (score, probabilities):
        if not function.is_native:
            print(f"{function.__name__} is not native:\n{function.report}")
            return 1
    correct = (classes == data.digits).numpy()
    held_out = correct[data.training :]
    print(f"accuracy: {np.mean(held_out):.1%} of the {len(held_out)} held-out images, {np.mean(correct):.1%} of all\n")

    print("score and probabilities against eager, all images at each batch size")
    print(f"{'batch':>6}  {'bits equal':>14}  {'eager µs':>9}  {'native µs':>9}  {'ratio':>6}")
    wrong = 0
    for size in BATCHES:
        equal = min(equal_images(function, data.images, parameters, size) for function in (score, probabilities))
        wrong += len(data.images) - equal
        batch = data.images[:size]
        eager, native = microseconds([lambda b=batch: score.python(b, **parameters), lambda b=batch: score(b, **parameters)])
        print(f"{size:>6,}  {equal:>5,} of {len(data.images):,}  {eager:>9.1f}  {native:>9.1f}  {eager / native:>5.0f}x")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
