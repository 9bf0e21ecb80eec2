"""MatMul and BatchMatMulV2 in float32 with oneDNN off.

One row or one column: Eigen's own vector products (orders.cpp). Otherwise TensorFlow's Eigen contraction cuts the product into blocks and
calls oneDNN's sgemm, on one thread, for each. How blocks are chosen is the arithmetic of Eigen's headers in the wheel
(Eigen/src/Core/products/GeneralBlockPanelKernel.h, unsupported/Eigen/CXX11/src/Tensor/TensorContraction*.h) with TensorFlow's block sizes
(tensorflow/core/kernels/eigen_contraction_kernel.h). Eigen's first dimension (`rows`) is N here, its second (`columns`) M.
"""

import numpy as np
import products_avx2
from arithmetic import F32, Array, cache_bytes, continue_chain, dense, dots_of_8_lanes, fma_chain, has_avx512, plain_chain, run
from products import pieces_in_place

REGISTER_ROWS, REGISTER_COLUMNS = 16, 4  # of Eigen's register block


def vector_product(a: Array, b: Array, transpose_a: bool, transpose_b: bool, threads: int, may_split: bool = True) -> Array:
    """M = 1 or N = 1; a [M,K], b [K,N] as they are multiplied."""
    (m, k), n = a.shape, b.shape[1]
    out = np.zeros((m, n), F32)
    stored_a, stored_b = dense(a.T if transpose_a else a), dense(b.T if transpose_b else b)
    run("eigen_vector_product", stored_a, stored_b, out, m, k, n, transpose_a, transpose_b, threads, may_split)
    return out


def _ceiling(a: int, b: int) -> int:
    return -(-a // b)


def _panel(length: int, most: int, unit: int) -> int:
    """At most `most`, such that the last panel is not much shorter; a multiple of `unit` below `most`."""
    rest = length % most
    return most if rest == 0 else most - unit * ((most - rest) // (unit * (length // most + 1)))


def _sizes_for_threads(k: int, rows: int, columns: int, threads: int) -> tuple[int, int, int]:
    l1, l2, l3 = (cache_bytes(level) for level in (1, 2, 3))
    depth = max(8, min((l1 - REGISTER_ROWS * REGISTER_COLUMNS * 4) // (REGISTER_ROWS * 4 + REGISTER_COLUMNS * 4), 320))
    if depth < k:
        k = depth - depth % 8
    cached, share = (l2 - l1) // (REGISTER_COLUMNS * 4 * k), _ceiling(columns, threads)
    columns = cached - cached % REGISTER_COLUMNS if cached <= share else min(columns, _ceiling(share, REGISTER_COLUMNS) * REGISTER_COLUMNS)
    if l3 > l2:
        cached, share = (l3 - l2) // (4 * k * threads), _ceiling(rows, threads)
        fits = REGISTER_ROWS <= cached < share
        rows = cached - cached % REGISTER_ROWS if fits else min(rows, _ceiling(share, REGISTER_ROWS) * REGISTER_ROWS)
    return k, rows, columns


def _sizes_for_one(k: int, rows: int, columns: int) -> tuple[int, int, int]:
    if max(k, rows, columns) < 48:
        return k, rows, columns
    l1, l2 = cache_bytes(1), cache_bytes(2)
    assumed_l2 = 1_572_864  # a constant of Eigen's
    register_bytes = REGISTER_ROWS * REGISTER_COLUMNS * 4
    longest = max((l1 - register_bytes) // (REGISTER_ROWS * 4 + REGISTER_COLUMNS * 4) & ~7, 1)
    whole, before = k <= longest, k
    if not whole:
        k = _panel(before, longest, 8) if before % longest else longest
    left = l1 - register_bytes - rows * k * 4
    most = left // (k * 4) if left >= REGISTER_COLUMNS * 4 * k else 3 * assumed_l2 // (2 * 2 * longest * 4)
    most = min(assumed_l2 // (2 * k * 4), most) & ~(REGISTER_COLUMNS - 1)
    if columns > most:
        return k, rows, _panel(columns, most, REGISTER_COLUMNS)
    if whole:
        bytes_right, available, tallest = k * columns * 4, assumed_l2, rows
        if bytes_right <= 1024:
            available = l1
        elif bytes_right <= 32768:
            available, tallest = l2, min(576, rows)
        most = min(available // (3 * k * 4), tallest)
        if most > REGISTER_ROWS:
            most -= most % REGISTER_ROWS
        if most > 0:
            rows = _panel(rows, most, REGISTER_ROWS)
    return k, rows, columns


def _blocking(k: int, rows: int, columns: int, threads: int, by_columns: bool) -> tuple[int, int, int]:
    """Block sizes along k, rows, columns: Eigen's, rounded up by TensorFlow to what suits oneDNN's sgemm."""
    sizes = _sizes_for_threads if threads > 1 else lambda d, r, c, _: _sizes_for_one(d, r, c)
    depth, first, second = sizes(k, *((rows, columns) if by_columns else (columns, rows)), threads)
    row_block, column_block = (first, second) if by_columns else (second, first)
    row_block = min(rows, _ceiling(int(F32(row_block) * F32(1.5)), 48) * 48)
    column_block = min(columns, _ceiling(column_block, 24) * 24)
    slices = max(1, _ceiling(k, depth))
    return min(k, _ceiling(k // slices, 8) * 8), row_block, column_block


def _shards_by_columns(rows: int, columns: int, threads: int) -> bool:
    unit, share = REGISTER_COLUMNS, columns // threads
    if rows // threads >= unit:
        if share < unit:
            return False
        if share < 4 * unit and columns % (threads * unit) != 0 and (rows % (threads * unit) == 0 or rows // columns >= 6):
            return False
    return not (share < 16 * unit and rows > columns * 32)


def _bandwidth(rows: int, columns: int, k: int) -> float:
    return 4.0 if k == 1 else 2.0 if rows < REGISTER_COLUMNS or columns < REGISTER_ROWS else 1.0


def plan(m: int, k: int, n: int, threads: int) -> tuple[str, tuple[int, int, int] | int]:
    """How many threads take part, and how: "one" and "shared" with block sizes, or "terms" with the number of threads that share k."""
    rows, columns, load = n, m, 11 / 64
    by_columns = _shards_by_columns(rows, columns, 2)
    depth, row_block, column_block = _blocking(k, rows, columns, 2, by_columns)
    cost = depth * _bandwidth(row_block, column_block, depth) / 8 + 4 * load + 4 * load * depth / (rows if by_columns else columns)
    wanted = min(threads, max(1, int((rows * columns * cost - 1e5) / 1e5 + 0.9)))
    alone = k * (_bandwidth(columns, rows, k) * rows * columns / 8 + 4 * load + 4 * load * columns)
    best, by_terms = alone, 1
    for count in range(2, threads + 1, 2):
        shared = alone / count + 1e5 + count * (rows * columns * (3 * load + 1 / 8) + 3000)
        if shared < best:
            best, by_terms = shared, count
    if by_terms >= 2 and by_terms >= wanted and rows * columns * 4 <= cache_bytes(3) // by_terms and k // by_terms >= 2 * REGISTER_COLUMNS:
        few_outputs = max(rows, columns) // wanted < REGISTER_COLUMNS
        long_terms = k // by_terms > 8 * REGISTER_COLUMNS and (min(rows, columns) < 2 * REGISTER_COLUMNS or by_terms > wanted)
        if few_outputs or long_terms:
            return "terms", by_terms
    if wanted == 1:
        return "one", _blocking(k, rows, columns, 1, True)
    return "shared", _blocking(k, rows, columns, wanted, _shards_by_columns(rows, columns, wanted))


def _add_dots(rows: Array, x: Array, start: Array) -> Array:
    """oneDNN's product with a vector, onto a start: the 16-wide part, then pieces of 8, 4, 2, 1, each added in turn."""
    out, k = start[:, 0].copy(), rows.shape[1]
    at = 0
    for width in (k // 16 * 16, 8, 4, 2, 1):
        if width and k - at >= width:
            out = out + dots_of_8_lanes(rows[:, at : at + width], x[at : at + width])
            at += width
    return out[:, None]


def _sgemm(a: Array, b: Array, start: Array | None, in_place: bool) -> Array:
    """oneDNN's product of one block, added to what the blocks before it along k gave."""
    (m, k), n = a.shape, b.shape[1]
    if m == 1:
        return continue_chain(a, b, np.zeros((1, n), F32) if start is None else start)
    if n == 1:
        total = np.zeros((m, 1), F32) if start is None else start
        for at in range(0, k, 512 if in_place else k):
            part = slice(at, at + 512 if in_place else k)
            total = _add_dots(a[:, part], b[part, 0], total)
        return total
    if not has_avx512():
        return products_avx2.matmul(a, b, start=start)
    at = 0
    for length in pieces_in_place(k):
        chain = fma_chain(a[:, at : at + length], b[at : at + length])
        start, at = chain if start is None else start + chain, at + length
    assert start is not None
    return start


def _in_blocks(a: Array, b: Array, sizes: tuple[int, int, int], transpose_b: bool) -> Array:
    (m, k), n = a.shape, b.shape[1]
    depth, row_block, column_block = sizes
    out = np.zeros((m, n), F32)
    column_blocks = _ceiling(m, column_block)
    for row in range(0, n, row_block):
        rows = slice(row, row + row_block)
        for column in range(0, m, column_block):
            columns, total = slice(column, column + column_block), None
            for at in range(0, k, depth):
                terms = slice(at, at + depth)
                small = column_blocks == 2 and n * min(depth, k - at) * 4 < (256 << 10)
                in_place = not transpose_b and (n <= row_block or column_blocks == 1 or small)
                total = _sgemm(a[columns, terms], b[terms, rows], total, in_place)
            out[columns, rows] = total
    return out


def matmul(a: Array, b: Array, transpose_a: bool = False, transpose_b: bool = False, threads: int = 2) -> Array:
    """a [M,K] and b [K,N] as they are multiplied, K ≥ 2; the flags tell how they lay in memory."""
    (m, k), n = a.shape, b.shape[1]
    if m == 1 or n == 1:
        return vector_product(a, b, transpose_a, transpose_b, threads)
    _, how = plan(m, k, n, threads)
    if isinstance(how, tuple):
        return _in_blocks(a, b, how, transpose_b)
    length = min(k, max(96, _ceiling(_ceiling(k, how), 8) * 8))
    parts = []
    for at in range(0, k, length):
        terms = slice(at, at + length)
        sizes = _blocking(min(length, k - at), n, m, _ceiling(k, length), True)
        parts.append(_in_blocks(a[:, terms], b[terms], sizes, transpose_b))
    return _add_parts(parts)


def _add_parts(parts: list[Array]) -> Array:
    """Four at a time: whole groups of 8 of the flat output in pairs, its tail in another order; fewer than four in order."""
    sums = []
    for first in range(0, len(parts), 4):
        group = parts[first : first + 4]
        total = group[0]
        if len(group) == 4:
            total = (group[0] + group[1]) + (group[2] + group[3])
            tail = slice(total.size // 8 * 8, None)
            total.ravel()[tail] = (group[0] + ((group[1] + group[2]) + group[3])).ravel()[tail]
        else:
            for part in group[1:]:
                total = part + total
        sums.append(total)
    total = sums[0]
    for part in sums[1:]:
        total = part + total
    return total


def is_simple(m: int, k: int, n: int, threads: int) -> bool:
    """The domain in which every output is one FMA chain on AVX-512: one block along k, and no block of one column of N."""
    return m >= 2 and n >= 2 and k <= 320 and n % 48 != 1 and plan(m, k, n, threads)[0] != "terms"


# ---- batches of more than one matrix ------------------------------------------------------------------------------------------------


def batch_known(m: int, k: int, n: int, transpose_a: bool, transpose_b: bool) -> Array | None:
    """Which outputs of a small product (M·K·N ≤ 16,384; M, K, N ≥ 2) are one chain without FMA; None: none of them for certain."""
    if m + k + n < 20:
        return None if transpose_b and not transpose_a and k >= 8 else np.ones((m, n), bool)
    known = np.ones((m, n), bool)
    known[: m - m % 4, n - n % 16 :] = False
    return known


def batch_matrix(a: Array, b: Array, transpose_a: bool, transpose_b: bool, threads: int) -> Array:
    """One matrix of a batch of several."""
    (m, k), n = a.shape, b.shape[1]
    if min(m, k, n) == 1:
        return vector_product(a, b, transpose_a, transpose_b, threads, may_split=False)
    return plain_chain(a, b) if m * k * n <= 16384 else matmul(a, b, transpose_a, transpose_b, threads)
