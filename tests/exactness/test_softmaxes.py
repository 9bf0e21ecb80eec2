"""Softmax along any axis, against eager."""

import numpy as np
import pytest
import softmaxes
from arithmetic import Array, assert_same_bits, dense, draw, has_avx512, onednn_is_on, tf


def along(x: Array, axis: int) -> Array:
    turned = np.swapaxes(x, axis, -1)
    rule = softmaxes.of_onednn if onednn_is_on() else softmaxes.of_eigen
    return dense(np.swapaxes(rule(dense(turned).reshape(-1, turned.shape[-1])).reshape(turned.shape), axis, -1))


@pytest.mark.skipif(onednn_is_on() and not has_avx512(), reason="oneDNN's softmax is not known without AVX-512")
@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_any_axis(rank: int) -> None:
    rng = np.random.default_rng(11)
    most = {1: 20000, 2: 300, 3: 40, 4: 12}[rank]
    for _ in range(60):
        shape = tuple(int(rng.choice([1, 2, 7, 8, 10, 16, 31, rng.integers(1, most + 1)])) for _ in range(rank))
        axis = int(rng.integers(rank))
        x = draw(rng, *shape, scale=3.0)
        assert_same_bits(along(x, axis), tf.nn.softmax(tf.constant(x), axis=axis).numpy(), (shape, axis))
