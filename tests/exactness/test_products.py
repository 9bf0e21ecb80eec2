"""The orders of matrix products, against eager on this machine's class (test_machine_classes.py runs this file for the others)."""

import numpy as np
import products
import products_avx2
import products_eigen
import pytest
from arithmetic import Array, assert_same_bits, dense, draw, fma_chain, has_avx512, intra_op_threads, onednn_is_on, tf

FLAGS = [(False, False), (False, True), (True, False), (True, True)]
ROUND = [1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 48, 49, 64, 97, 100, 128]


def size(rng: np.random.Generator, most: int, least: int = 1) -> int:
    """A round number or its neighbour, or any, small ones preferred."""
    choice = rng.random()
    value = int(rng.choice(ROUND)) if choice < 0.5 else int(rng.integers(1, 65 if choice < 0.8 else most + 1))
    return min(max(value, least), most)


def eager(a: Array, b: Array, transpose_a: bool, transpose_b: bool) -> Array:
    stored_a, stored_b = (dense(np.swapaxes(x, -1, -2)) if flag else x for x, flag in ((a, transpose_a), (b, transpose_b)))
    return tf.matmul(tf.constant(stored_a), tf.constant(stored_b), transpose_a=transpose_a, transpose_b=transpose_b).numpy()


def rule(a: Array, b: Array, transpose_a: bool, transpose_b: bool) -> Array:
    """The 2-D product's order on this machine's class."""
    (m, _), n = a.shape, b.shape[1]
    threads = intra_op_threads()
    if not onednn_is_on():
        return products_eigen.matmul(a, b, transpose_a, transpose_b, threads)
    if has_avx512():
        return products.matmul(a, b, transpose_a, transpose_b, threads, threads)
    if m == 1 or n == 1:  # only the kernel for few rows under transpose_b is AVX-512's own
        return products.matmul(a, b, transpose_a, transpose_b and m == 1, threads, threads)
    return products_avx2.matmul(a, b, transpose_a, transpose_b)


@pytest.mark.parametrize(("transpose_a", "transpose_b"), FLAGS)
def test_any_sizes(transpose_a: bool, transpose_b: bool) -> None:
    rng = np.random.default_rng(1)
    for _ in range(90):
        m, k, n = size(rng, 400), size(rng, 900, 2), size(rng, 400)
        if m * k * n > 3_000_000:
            continue
        a, b = draw(rng, m, k), draw(rng, k, n)
        assert_same_bits(rule(a, b, transpose_a, transpose_b), eager(a, b, transpose_a, transpose_b), (m, k, n, transpose_a, transpose_b))


@pytest.mark.parametrize(("transpose_a", "transpose_b"), FLAGS)
def test_one_row_or_column(transpose_a: bool, transpose_b: bool) -> None:
    rng = np.random.default_rng(2)
    for trial in range(60):
        m, k, n = size(rng, 1500), size(rng, 1500, 2), size(rng, 1500)
        m, n = (1, n) if trial % 2 else (m, 1)
        a, b = draw(rng, m, k), draw(rng, k, n)
        assert_same_bits(rule(a, b, transpose_a, transpose_b), eager(a, b, transpose_a, transpose_b), (m, k, n, transpose_a, transpose_b))


@pytest.mark.parametrize("n", [2, 8, 10, 64, 256])
def test_scoring_sizes(n: int) -> None:
    rng = np.random.default_rng(3)
    for m in (1, 2, 16, 128):
        for k in (32, 64, 255, 256, 320):
            a, b = draw(rng, m, k), draw(rng, k, n)
            assert_same_bits(rule(a, b, False, False), eager(a, b, False, False), (m, k, n))


def test_domain_of_the_single_chain() -> None:
    """What the fused lane assumes of products of two rows and columns or more on AVX-512, stated without cache sizes."""
    if not has_avx512():
        pytest.skip("the CPU, or ONEDNN_MAX_CPU_ISA, has no AVX-512")
    rng = np.random.default_rng(4)
    for _ in range(150):
        m, k, n = size(rng, 200, 2), size(rng, 320, 2), size(rng, 200, 2)
        if not onednn_is_on() and not products_eigen.is_simple(m, k, n, intra_op_threads()):
            continue
        a, b = draw(rng, m, k), draw(rng, k, n)
        assert_same_bits(fma_chain(a, b), eager(a, b, False, False), (m, k, n))


def batch_sizes(rng: np.random.Generator) -> tuple[tuple[int, ...], tuple[int, ...]]:
    batch = tuple(int(rng.choice([1, 2, 3, 5])) for _ in range(rng.integers(1, 4)))
    left, right = (tuple(1 if rng.random() < 0.2 else length for length in batch) for _ in range(2))
    if rng.random() < 0.2:
        right = right[int(rng.integers(0, len(right) + 1)) :]
    return left, right


@pytest.mark.parametrize(("transpose_a", "transpose_b"), FLAGS)
def test_batches(transpose_a: bool, transpose_b: bool) -> None:
    if not has_avx512():
        pytest.skip("batches are not known without AVX-512")
    rng = np.random.default_rng(5)
    for _ in range(50):
        left, right = batch_sizes(rng)
        m, k, n = size(rng, 100), size(rng, 100 if not onednn_is_on() or rng.random() < 0.6 else 1500, 2), size(rng, 100)
        batch = np.broadcast_shapes(left, right)
        if products.batch_is_miscomputed(left, right) or int(np.prod(batch)) * m * k * n > 2_000_000:
            continue
        a, b = draw(rng, *left, m, k), draw(rng, *right, k, n)
        theirs = eager(a, b, transpose_a, transpose_b).reshape(-1, m, n)
        all_a, all_b = (np.broadcast_to(x, batch + x.shape[-2:]).reshape(-1, *x.shape[-2:]) for x in (a, b))
        for one_a, one_b, one in zip(all_a, all_b, theirs, strict=True):
            check_matrix_of_batch(one_a, one_b, one, transpose_a, transpose_b, len(theirs))


def check_matrix_of_batch(a: Array, b: Array, theirs: Array, transpose_a: bool, transpose_b: bool, batch: int) -> None:
    (m, k), n = a.shape, b.shape[1]
    if onednn_is_on():
        mine = fma_chain(a, b, products.batch_pieces(m, k, transpose_a))
    elif batch == 1:
        mine = products_eigen.matmul(a, b, transpose_a, transpose_b, intra_op_threads())
    else:
        mine = products_eigen.batch_matrix(a, b, transpose_a, transpose_b, intra_op_threads())
        if min(m, k, n) > 1 and m * k * n <= 16384:
            known = products_eigen.batch_known(m, k, n, transpose_a, transpose_b)
            mine = theirs if known is None else np.where(known, mine, theirs)
    assert_same_bits(mine, theirs, (batch, m, k, n, transpose_a, transpose_b))
