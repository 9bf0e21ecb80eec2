"""MatMul and BatchMatMulV2 in float32 with oneDNN on, AVX-512: the order of every output's sum.

The sizes at which the kernels change are those of oneDNN's gemm driver (src/cpu/x64/gemm in its sources) and of TensorFlow's
single-threaded matrix product; the orders were found by comparison.
"""

from arithmetic import F32, Array, cache_bytes, dots_of_8_lanes, dots_of_16_lanes, fma_chain


def threads_of(m: int, k: int, n: int, threads: int) -> int:
    """TensorFlow runs a product on one thread where its matrices fit the second cache."""
    return 1 if F32(4 * (m * n + k * (m + n))) < F32(cache_bytes(2) * F32(1.01)) else threads


def pieces_in_place(k: int) -> list[int]:
    """The lengths into which an output's chain is cut when oneDNN multiplies the matrices where they lie."""
    pieces = []
    while k > 0:
        pieces.append(384 if k >= 768 else -(-k // 2) if k > 384 else k)
        k -= pieces[-1]
    return pieces


def pieces_packed(k: int) -> list[int]:
    """The same when it packs them first."""
    if k < 768:
        return pieces_in_place(k)
    return [384] * (k // 384) + ([k % 384] if k % 384 else [])


def is_packed(m: int, k: int, n: int, transpose_a: bool, transpose_b: bool, threads: int) -> bool:
    """oneDNN's choice, for AVX-512; it can change bits only where K > 768."""
    neither, only_a, only_b = not transpose_a and not transpose_b, transpose_a and not transpose_b, transpose_b and not transpose_a
    stride_b, stride_a = (k if transpose_b else n), (m if transpose_a else k)
    if threads == 1 and only_b and n > 100 and ((n < 1200 and m < 200 and k < 1200) or (stride_b % 256 == 0 and stride_a % 256 == 0)):
        return True
    if threads <= 8 and neither and stride_b % 1024 == 0 and k > 500 and m > 100:
        return True
    if 1 / n + 1 / m >= 0.00196 and not (stride_b % 1024 == 0 and only_a):
        return False
    pages_apart = (stride_b % 256 == 0 or stride_a % 256 == 0 or n % 256 == 0) and n >= 32
    if pages_apart and (m > 16 or (m == 16 and (k >= 6400 or transpose_b or n == 4096))):
        return True
    if k >= threads * 378 and ((n <= 378 and m <= 378) or n >= threads * 378):
        return True
    few_columns = n <= threads * 28 and (not transpose_a or n >= m)
    return not (few_columns or m <= threads * 28 or k <= threads)


def pieces_of_vector(outputs: int, k: int, threads: int, cores: int) -> list[int]:
    """A product with a vector whose matrix has the terms in its columns: threads share k when the matrix is short and fat."""
    if threads == 1 or outputs * k + 288 * k < 41700:
        return [k]
    groups = threads
    if not (outputs >= 20000 and k <= 200):
        band = k // threads
        if threads <= 12 and outputs * band < (2048 if band < 32 else 4096):
            return [k]
        if threads > 12 and band * outputs < 4096:
            if band == 0:
                return [k]
            groups = min(max(k * outputs // 3072, 1), threads)
        if groups == threads and 4 * outputs * k < cache_bytes(2) * cores:
            groups = min(threads, cores)
    if groups == 1 or outputs > groups * 500 or k < groups * 128:
        return [k]
    return [k // groups + (1 if i < k % groups else 0) for i in range(groups)]


def matmul(a: Array, b: Array, transpose_a: bool = False, transpose_b: bool = False, threads: int = 2, cores: int = 2) -> Array:
    """a [M,K] and b [K,N] as they are multiplied; the flags tell how they lay in memory."""
    (m, k), n = a.shape, b.shape[1]
    if transpose_b and not transpose_a and 2 <= m <= 15:
        return dots_of_16_lanes(a, b.T)
    if m == 1 and transpose_b:
        return dots_of_8_lanes(b.T, a[0])[None]
    used = threads_of(m, k, n, threads)
    if m == 1:
        return fma_chain(a, b, pieces_of_vector(n, k, used, cores))
    if n == 1 and transpose_a:
        return fma_chain(a, b, pieces_of_vector(m, k, used, cores))
    if n == 1:
        return dots_of_8_lanes(a, b[:, 0])[:, None]
    return fma_chain(a, b, pieces_packed(k) if is_packed(m, k, n, transpose_a, transpose_b, used) else pieces_in_place(k))


# ---- batches ------------------------------------------------------------------------------------------------------------------------


def batch_pieces(m: int, k: int, transpose_a: bool) -> list[int]:
    """Every matrix of a batch: chains in pieces, whatever M and N. For K ≥ 2,048 with one matrix and (transpose_a or M = 1) not known."""
    longest = 1024 if k > 1024 and not transpose_a and m >= 2 else 512
    return [longest] * (k // longest) + ([k % longest] if k % longest else [])


def batch_is_miscomputed(batch_a: tuple[int, ...], batch_b: tuple[int, ...]) -> bool:
    """Batches for which TensorFlow 2.21 gives wrong numbers and writes outside its memory: the right operand has one matrix, the left one
    has several, but not along its innermost batch axis ([4,1,16,15]·[1,15,8])."""
    rank = max(len(batch_a), len(batch_b))
    left, right = (1,) * (rank - len(batch_a)) + batch_a, (1,) * (rank - len(batch_b)) + batch_b
    return rank >= 2 and left[-1] == right[-1] == 1 and left != right and max(left) > 1 and max(right) == 1
