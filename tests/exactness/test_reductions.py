"""The orders of reductions over any axes, against eager."""

import numpy as np
import pytest
import reductions
from arithmetic import F32, Array, assert_same_bits, draw, intra_op_threads, tf

EAGER = {"sum": tf.reduce_sum, "mean": tf.reduce_mean, "prod": tf.reduce_prod, "max": tf.reduce_max, "min": tf.reduce_min}
SPECIAL = np.array([np.nan, 0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, 1e-40, -1e-40], F32)
LONGEST_AXIS = {1: 20000, 2: 800, 3: 80, 4: 24, 5: 12, 6: 7}


def values(rng: np.random.Generator, name: str, shape: tuple[int, ...], trial: int) -> Array:
    if name == "prod":
        return np.exp(draw(rng, *shape, scale=0.05))
    if name in ("max", "min") and trial % 3 == 0:
        return rng.choice(SPECIAL[1:3] if trial % 2 else SPECIAL, size=shape).astype(F32)
    if trial % 3 == 1 and name in ("sum", "mean"):
        return (draw(rng, *shape) * np.exp(draw(rng, *shape, scale=8.0))).astype(F32)
    return draw(rng, *shape)


@pytest.mark.parametrize("name", list(EAGER))
def test_any_axes(name: str) -> None:
    rng = np.random.default_rng(6)
    for trial in range(150):
        rank = int(rng.integers(1, 7))
        shape = tuple(int(rng.choice([1, 2, rng.integers(1, 10), rng.integers(1, LONGEST_AXIS[rank] + 1)])) for _ in range(rank))
        if trial % 10 == 0 and rank > 1:
            shape = (*shape[: rank - 1], int(rng.integers(8000, 20000)))
        if np.prod(shape) > 300_000:
            continue
        axes = [axis for axis in range(rank) if rng.random() < 0.5] or [int(rng.integers(rank))]
        x = values(rng, name, shape, trial)
        mine = reductions.reduce(name, x, axes, intra_op_threads())
        assert_same_bits(mine, EAGER[name](tf.constant(x), axis=axes).numpy(), (name, shape, axes))
