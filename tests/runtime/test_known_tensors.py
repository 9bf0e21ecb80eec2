"""What a function remembers of tensors that come again: the right values whatever came before, and nothing kept alive."""

from __future__ import annotations

import gc
import threading
import weakref

import bodies
import numpy as np
import pytest
import tensorflow as tf
from support import native


def equal(mine: tf.Tensor, theirs: tf.Tensor) -> bool:
    return mine.shape == theirs.shape and mine.numpy().tobytes() == theirs.numpy().tobytes()


def test_a_tensor_that_comes_again_after_others(x: tf.Tensor) -> None:
    add = native(bodies.add)
    other, larger = x * 3.0, tf.random.normal((5, 9))
    for pair in [(x, x)] * 4 + [(x, other), (other, x)] * 3 + [(larger, larger)] * 3 + [(x, other)] * 3 + [(tf.zeros((0, 2)),) * 2] * 3:
        assert equal(add(*pair), pair[0] + pair[1])


def test_fresh_tensors_at_the_address_of_dead_ones() -> None:
    """The memory of a tensor that ends between two calls often becomes that of the next one, object, handle and buffer."""
    add = native(bodies.add)
    weights = tf.ones((3, 4))
    addresses = set()
    for i in range(500):
        fresh = tf.fill((3, 4) if i % 3 else (1 + i % 7, 4), float(i)) if i % 2 else tf.fill((3, 4), float(i))
        addresses.add(id(fresh))
        other = weights if fresh.shape == weights.shape else fresh
        for _ in range(1 + i % 3):
            assert equal(add(fresh, other), fresh + other)
        del fresh, other
    assert len(addresses) < 400, "no address came twice, so this test shows nothing"


def test_no_tensor_is_kept_alive() -> None:
    add = native(bodies.add)
    data = tf.random.normal((3, 4))
    for _ in range(5):
        add(data, data)
    end = weakref.ref(data)
    del data
    gc.collect()
    assert end() is None


def test_what_does_not_fit_still_raises(x: tf.Tensor) -> None:
    add = native(bodies.add)
    for _ in range(4):
        add(x, x)
    for wrong, error in [(tf.cast(x, tf.float64), ValueError), (x[0], ValueError), (x.numpy(), TypeError), (None, TypeError)]:
        with pytest.raises(error, match=r"^natif: expected a"):
            add(x, wrong)
        assert equal(add(x, x), x + x)


def test_threads_with_weights_of_their_own() -> None:
    add = native(bodies.add)
    different: list[int] = []

    def work(seed: int) -> None:
        mine = tf.constant(np.random.default_rng(seed).standard_normal((2 + seed, 4)).astype(np.float32))
        expected = (mine + mine).numpy().tobytes()
        different.extend(seed for _ in range(300) if add(mine, mine).numpy().tobytes() != expected)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not different
