"""MatMul in float32 by oneDNN's AVX2 kernels, M, N ≥ 2: which sums fuse and which run as two, by an output's place.

oneDNN's row-major product is its column-major one with the operands exchanged: what it calls columns are the rows here.
"""

from arithmetic import Array, continue_chain, dense, fma_chain, plain_chain


def _even_and_odd(a: Array, b: Array, fused: bool) -> Array:
    """One chain over even k and one over odd k of whole pairs, added; then the odd last term."""
    k = a.shape[1]
    pairs = k // 2 * 2
    chain = fma_chain if fused else plain_chain
    if pairs == 0:
        return chain(a, b)
    total = chain(a[:, :pairs:2], b[:pairs:2]) + chain(a[:, 1:pairs:2], b[1:pairs:2])
    if k == pairs:
        return total
    return continue_chain(a[:, pairs:], b[pairs:], total) if fused else total + a[:, pairs:] * b[pairs:]


def pieces(length: int, piece: int) -> list[int]:
    """How the terms are cut."""
    out = []
    while length > 0:
        out.append(piece if length >= 2 * piece else -(-length // 2) if length > piece else length)
        length -= out[-1]
    return out


def blocks(length: int, block: int) -> list[int]:
    """How the rows are cut."""
    out = []
    while length > 0:
        out.append(block if length >= 2 * block else -(-length // 2) if length > block + block // 2 else length)
        length -= out[-1]
    return out


def _one_piece(a: Array, b: Array, row_block: int) -> Array:
    """Rows in groups of 6 inside each block. Whole groups, and 4 or 5 rows over: chains, but for the last N mod 16 columns if they are 1 to
    8. These, and 3 rows over: even and odd k apart. 1 or 2 rows over: even and odd k apart, multiply and then add."""
    n = b.shape[1]
    out, two, two_plain = fma_chain(a, b), _even_and_odd(a, b, True), _even_and_odd(a, b, False)
    wide = n - n % 16 if 1 <= n % 16 <= 8 else n
    first = 0
    for rows in blocks(a.shape[0], row_block):
        rest = rows % 6
        grouped, end = first + rows - rest, first + rows
        out[first:end, wide:] = two[first:end, wide:]
        if rest in (1, 2):
            out[grouped:end] = two_plain[grouped:end]
        elif rest == 3:
            out[grouped:end] = two[grouped:end]
        first = end
    return out


def matmul(a: Array, b: Array, transpose_a: bool = False, transpose_b: bool = False, start: Array | None = None) -> Array:
    """One call of oneDNN, onto `start`. With oneDNN off (products_eigen.py) the flags are False: Eigen packs the blocks first."""
    total, at = start, 0
    for length in pieces(a.shape[1], 96 if transpose_a else 256):
        part = _one_piece(dense(a[:, at : at + length]), dense(b[at : at + length]), 96 if transpose_b else 48)
        total, at = part if total is None else total + part, at + length
    assert total is not None
    return total
