"""What the language means: programs over numbers and small tensors give what Python gives, value, type and error, in the graph evaluator
and in compiled code."""

import importlib.util
import itertools
import math
import struct
import sys

import numpy as np
import pytest
import tensorflow as tf

import natif

HEAD = """\
import math
import tensorflow as tf
import natif
from natif.types import *
LIMIT = 3
"""

# Each over i, j (ints), s, t (floats) and b (a bool).
NUMBERS = [
    "i + j, i - j, i * j",
    "i // j",
    "i % j",
    "i / j",
    "s / t",
    "s // t",
    "s % t",
    "s + i, s * j, i - t",
    "i / t, s // j, i % t",
    "-i, +i, ~i, abs(i)",
    "-s, +s, abs(s)",
    "i & j, i | j, i ^ j",
    "i << 3, i >> 2",
    "i >> j",
    "b + i, b * s, -b, ~b, +b, b & True, b | False, b ^ True, b & i",
    "i ** 2, i ** 3, s ** 2",
    "i ** -2",
    "s ** t",
    "i < j, i <= j, i == j, i != j, i > j, i >= j",
    "i < s, i <= s, i == s, s > i, s >= j, s != i",
    "b == i, b < s, b == True",
    "0 <= i < j <= 100",
    "i < j == b",
    "i and j, i or j, s and t, s or t, not i, not s",
    "(i > 2 and not j) or b",
    "i if b else j",
    "min(i, j), max(i, j), min(s, t), max(s, t), min(i, j, 3), max(t, s, 0.5)",
    "int(s)",
    "float(i), bool(i), bool(s), int(b), float(b), int(i)",
    "divmod(i, j)",
    "pow(s, 2), pow(i, 3)",
    "s + math.pi, t * math.inf, float('nan') + s",
    "i + LIMIT, s * LIMIT",
]

STATEMENTS = {
    "shift": """
    return i << j
""",
    "power": """
    return i ** j
""",
    "sum_of_evens": """
    total = 0
    for k in range(i):
        if k % 2:
            continue
        if k > 20:
            break
        total += k
    return total
""",
    "three_ranges": """
    a = 0
    for k in range(5, -5, -2):
        a = a * 3 + k
    for k in range(-3, i):
        a = a - k
    for k in range(j):
        a ^= k
    return a
""",
    "step_of_zero": """
    a = 0
    for k in range(0, 10, j):
        a += k
        if a > 1000:
            return a
    return a
""",
    "loop_else": """
    a = -1
    for k in range(i):
        if k == j:
            a = k
            break
    else:
        a = 1000
    while a > 10:
        a //= 2
        if a == j:
            break
    else:
        a += 5
    return a
""",
    "collatz": """
    n = abs(i) + 1
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
        if steps > 200:
            return -steps
    return steps
""",
    "endless": """
    k = 0
    while True:
        k += 1
        for m in range(3):
            if m == k:
                break
        else:
            if k > 5:
                return k * 10 + m
""",
    "swap_in_a_loop": """
    a, c = 0, 1
    for _ in range(i):
        a, c = c, a + c
        if c > 100000:
            return a
    return a
""",
    "rebinding": """
    a = s
    a = i
    if b:
        a = j
    c = a
    a = t
    return c
""",
    "nested_and_early": """
    for k in range(4):
        for m in range(k):
            if k * m == i:
                return k - m
            elif m > j:
                break
        else:
            continue
        return -k
    return 99
""",
    "short_circuit_avoids_errors": """
    if j != 0 and i // j > 1:
        return i // j
    return i % j if j else 0
""",
    "overflow": """
    a = i
    for k in range(70):
        a = a * 2 + 1
    return a
""",
}

BOUNDED = {"sum_of_evens", "three_ranges", "loop_else", "swap_in_a_loop", "shift", "power"}
"""What takes Python minutes or gigabytes with large ints."""

INTS = [0, 1, -1, 2, -3, 7, 13, -100, 2**31, -(2**31), 2**53 + 1, 2**62, 2**63 - 1, -(2**63)]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.75, 1e300, -1e-300, 5e-324, math.inf, -math.inf, math.nan]


def load(path, text):
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    text = HEAD
    for index, expression in enumerate(NUMBERS):
        text += f"@natif.native\ndef number{index}(i: int, j: int, s: float, t: float, b: bool):\n    return {expression}\n"
    for name, body in STATEMENTS.items():
        text += f"@natif.native\ndef {name}(i: int, j: int, s: float, t: float, b: bool):{body}"
    return load(tmp_path_factory.mktemp("language") / "language_programs.py", text)


def outcome(function, arguments):
    """The results with their types and bits, or the error with its text."""
    try:
        results = function(*arguments)
    except (ArithmeticError, ValueError) as error:
        return type(error).__name__, str(error)
    results = results if isinstance(results, tuple) else (results,)
    if any(isinstance(result, complex) or (isinstance(result, int) and not -(2**63) <= result < 2**63) for result in results):
        return "past 64 bits"
    return [(type(result).__name__, struct.pack("<d", result) if isinstance(result, float) else result) for result in results]


def argument_lists():
    numbers = list(itertools.product(INTS, INTS))
    reals = list(itertools.product(FLOATS, FLOATS))
    for index, (i, j) in enumerate(numbers):
        yield i, j, *reals[index % len(reals)], index % 3 == 0
    for index, (s, t) in enumerate(reals):
        yield *numbers[(index * 7) % len(numbers)], s, t, index % 2 == 0


def agree(function):
    assert function.is_native, function.report
    for arguments in argument_lists():
        if function.__name__ in BOUNDED and max(arguments[:2]) > 1000:
            continue
        expected = outcome(function.python, arguments)
        actual = outcome(function, arguments)
        if expected == "past 64 bits" or (expected[0] == "OverflowError" and "64 bits" in str(actual)):
            assert actual == "past 64 bits" or actual[0] == "OverflowError", (arguments, actual)
        elif same_but_for_large_intermediates(actual):
            continue
        else:
            assert actual == expected, arguments
    assert function.calls["native"] > 20


def same_but_for_large_intermediates(actual):
    """An int that leaves 64 bits on the way raises where Python computes with more bits."""
    return actual[0] == "OverflowError" and "64 bits" in str(actual[1])


@pytest.mark.parametrize("index", range(len(NUMBERS)), ids=NUMBERS)
def test_numbers(programs, index):
    agree(getattr(programs, f"number{index}"))


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements(programs, name):
    agree(getattr(programs, name))


TENSORS = """
@natif.native
def branches(x: TensorF32Cpu2D, w: TensorF32Cpu2D, n: int, b: bool) -> TensorF32Cpu2D:
    if b:
        y, k = x, 2
    else:
        y, k = -x, 3
    for i in range(n):
        if i % 2 == 0:
            y = tf.nn.relu(y)
        elif i == 7:
            break
        else:
            y = tf.tanh(y @ w) * k
    return y + n


@natif.native
def same_object(x: TensorF32Cpu2D, b: bool) -> TensorF32Cpu2D:
    y = x
    return y if b else x * 2


@natif.native
def two(x: TensorF32Cpu2D, w: TensorF32Cpu2D) -> tuple[TensorF32Cpu2D, int, TensorF32Cpu1D]:
    x, y = x @ w, x
    return x, len(y), tf.reduce_sum(y, axis=0)


@natif.native
def calling(x: TensorF32Cpu2D, w: TensorF32Cpu2D, n: int) -> TensorF32Cpu2D:
    y, rows, total = two(branches(x, w, n, n > 2), w)
    while rows > 0:
        y = y + total / rows
        rows -= 1
    return same_object(y, False)


@natif.native
def early(x: TensorF32Cpu2D, n: int) -> TensorF32Cpu1D:
    while True:
        x = x * 0.5 + n
        n -= 1
        if n < 0:
            return tf.reduce_mean(x, axis=1)


@natif.native
def sizes(x: TensorF32Cpu2D) -> TensorF32Cpu2D:
    rows, columns = x.shape
    return x * rows + columns - x.shape[-1] / len(x.shape)


@natif.native
def rerank(x: TensorF32Cpu2D) -> TensorF32Cpu0D:
    x = tf.reduce_max(x, 1)
    x = tf.reduce_sum(x)
    return x
"""


@pytest.fixture(scope="module")
def tensor_programs(tmp_path_factory):
    return load(tmp_path_factory.mktemp("tensors") / "tensor_programs.py", HEAD + TENSORS)


def arguments_of(name, rng):
    def matrix(rows, columns):
        return tf.constant(rng.normal(size=(rows, columns)).astype(np.float32) * 2)

    x, w = matrix(5, 7), matrix(7, 7)
    return {
        "branches": [(x, w, n, b) for n in (0, 1, 2, 5, 12) for b in (True, False)],
        "same_object": [(x, True), (x, False)],
        "two": [(x, w)],
        "calling": [(x, w, n) for n in (0, 1, 3, 9)],
        "early": [(x, n) for n in (0, 1, 4)],
        "sizes": [(x,), (matrix(1, 9),)],
        "rerank": [(x,), (matrix(3, 1),)],
    }[name]


def bits(result):
    parts = result if isinstance(result, tuple) else (result,)
    return [(part.shape, part.dtype, part.numpy().tobytes()) if tf.is_tensor(part) else part for part in parts]


@pytest.mark.parametrize("lane", ["auto", "tfe"])
@pytest.mark.parametrize("name", ["branches", "same_object", "two", "calling", "early", "sizes", "rerank"])
def test_tensors(tensor_programs, name, lane):
    function = natif.compile(getattr(tensor_programs, name), lane=lane, require=True)
    rng = np.random.default_rng(7)
    for arguments in arguments_of(name, rng):
        assert bits(function(*arguments)) == bits(function.python(*arguments))
    assert function.calls["python"] == {}
    assert function.calls["native"] == len(arguments_of(name, rng))


def test_a_returned_parameter_is_the_same_object(tensor_programs):
    x = tf.constant([[1.0, 2.0]])
    assert tensor_programs.same_object(x, True) is x
    assert tensor_programs.same_object(x, False) is not x
