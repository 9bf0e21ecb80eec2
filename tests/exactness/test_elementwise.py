"""Formulas of groups of 8 and of the rest, and where each applies, against eager."""

import elementwise
import numpy as np
import pytest
from arithmetic import F32, Array, assert_same_bits, draw, tf

EAGER = {"exp": tf.exp, "log": tf.math.log, "tanh": tf.tanh, "sigmoid": tf.sigmoid}
SCALE = {"exp": 8.0, "log": 1.0, "tanh": 4.0, "sigmoid": 6.0}
SIZES = [*range(1, 20), 31, 33, 100, 1000, 4099, 13913, 30001, 100_003]
#: 0, -0, denormals, ±1, ±inf, NaNs of both signs, and one that is signalling.
SPECIAL = np.array(
    [0, 1 << 31, 1, 0x80000001, 0x007FFFFF, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00001, 0xFFC00002, 0x7FA00003], np.uint32
).view(F32)


@pytest.mark.parametrize("name", list(EAGER))
def test_functions(name: str) -> None:
    rng = np.random.default_rng(7)
    for n in SIZES:
        x = draw(rng, n, scale=SCALE[name])
        if name == "log":
            x = np.abs(x) + F32(1e-3)
        assert_same_bits(elementwise.apply(name, x), EAGER[name](tf.constant(x)).numpy(), (name, n))


@pytest.mark.parametrize(("name", "eager"), [("reciprocal", tf.math.reciprocal), ("rsqrt", tf.math.rsqrt)])
def test_estimates(name: str, eager: object) -> None:
    rng = np.random.default_rng(8)
    for n in SIZES:
        for x in (draw(rng, n), rng.integers(0, 1 << 32, n, dtype=np.uint64).astype(np.uint32).view(F32)):
            assert_same_bits(elementwise.estimate(name, x), eager(tf.constant(x)).numpy(), (name, n))  # type: ignore[operator]


def test_relu() -> None:
    rng = np.random.default_rng(9)
    for n in [*range(1, 17)] * 8 + [100, 1003]:
        x = rng.choice(np.concatenate([SPECIAL, draw(rng, 12)]), n).astype(F32)
        assert_same_bits(elementwise.relu(x), tf.nn.relu(tf.constant(x)).numpy(), n)


@pytest.mark.parametrize("smallest", [False, True])
def test_maximum_and_minimum(smallest: bool) -> None:
    a, b = (x.ravel() for x in np.meshgrid(SPECIAL, SPECIAL))
    for n in (a.size, a.size - 3, 7):
        x, y = a[:n], b[:n]
        mine = elementwise.larger(x, y, elementwise.last_of(n), smallest)
        assert_same_bits(mine, (tf.minimum if smallest else tf.maximum)(tf.constant(x), tf.constant(y)).numpy(), n)


def scalar_places(a: tuple[int, ...], b: tuple[int, ...]) -> Array:
    """Where eager takes the scalar formula: of zeros of both signs it gives the first operand's."""
    result = tf.maximum(tf.constant(np.zeros(a, F32)), tf.constant(-np.zeros(b, F32))).numpy()
    return ~np.signbit(result.ravel())  # type: ignore[no-any-return]


def test_places_of_the_scalar_formula() -> None:
    rng = np.random.default_rng(10)
    compared = 0
    for trial in range(700):
        rank = int(rng.integers(1, 6))
        most = {1: 60000, 2: 400, 3: 60, 4: 20, 5: 11}[rank]
        dims = [int(rng.choice([1, 2, 3, rng.integers(1, most + 1)])) for _ in range(rank)]
        if trial % 6 == 0 and rank > 1:
            dims[-1], dims[0] = int(rng.integers(10000, 40000)), min(dims[0], 4)
        if np.prod(dims) > 200_000:
            continue
        a, b = (tuple(1 if rng.random() < 0.35 else length for length in dims) for _ in range(2))
        b = b[int(rng.integers(rank + 1)) :] if rng.random() < 0.3 else b
        assert np.array_equal(scalar_places(a, b), elementwise.scalar_positions(a, b)), (a, b)
        compared += 1
    assert compared > 300
