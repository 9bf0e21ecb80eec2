"""Arithmetic on Python's numbers in the graph gives Python's own results and errors."""

from __future__ import annotations

import itertools
import math
import operator
import struct

import pytest
from evaluating import evaluated

INTS = [0, 1, -1, 2, -2, 3, -7, 10, 63, 64, -64, 2**31, 2**53, 2**53 + 1, -(2**53) - 1, 3037000500, 2**62, 2**63 - 1, -(2**63)]
FLOATS = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.1,
    0.5,
    -2.5,
    3.0,
    -7.5,
    1e300,
    5e-324,
    -5e-324,
    2.0**53,
    2.0**63,
    -(2.0**63),
    math.inf,
    -math.inf,
    math.nan,
]

# Operation of the graph: Python's function.
INT_BINARY = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "floor_divide": operator.floordiv,
    "modulo": operator.mod,
    "power": operator.pow,
    "minimum": lambda a, b: min(a, b),
    "maximum": lambda a, b: max(a, b),
    "bit_and": operator.and_,
    "bit_or": operator.or_,
    "bit_xor": operator.xor,
    "shift_left": operator.lshift,
    "shift_right": operator.rshift,
}
ON_INTS_ONLY = {"bit_and", "bit_or", "bit_xor", "shift_left", "shift_right"}
FLOAT_BINARY = {name: function for name, function in INT_BINARY.items() if name not in ON_INTS_ONLY}
COMPARISONS = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}
UNARY = {
    ("negate", "int", "int"): operator.neg,
    ("absolute", "int", "int"): abs,
    ("bit_not", "int", "int"): operator.invert,
    ("to_float", "int", "float"): float,
    ("to_bool", "int", "bool"): bool,
    ("negate", "float", "float"): operator.neg,
    ("absolute", "float", "float"): abs,
    ("to_int", "float", "int"): int,
    ("to_bool", "float", "bool"): bool,
    ("not", "bool", "bool"): operator.not_,
    ("to_int", "bool", "int"): int,
    ("to_float", "bool", "float"): float,
}
VALUES = {"int": INTS, "float": FLOATS, "bool": [False, True]}


def binary_cases():
    for name, function in INT_BINARY.items():
        yield name, "int", "int", "float" if name == "divide" else "int", function
    for name, function in FLOAT_BINARY.items():
        yield name, "float", "float", "float", function
    for name, function in COMPARISONS.items():
        for left, right in itertools.product(["int", "float"], repeat=2):
            yield name, left, right, "bool", function
    for name in ["equal", "not_equal"]:
        yield name, "bool", "bool", "bool", COMPARISONS[name]
    for name in ["bit_and", "bit_or", "bit_xor"]:
        yield name, "bool", "bool", "bool", INT_BINARY[name]


def expected(function, result, *operands):
    """Python's result, or the error's class and text; OverflowError where an int leaves 64 bits."""
    if function is operator.lshift and operands[1] > 200:
        return (OverflowError, "natif: an int left the range of 64 bits") if operands[0] else 0
    if function is operator.pow and isinstance(operands[1], int) and operands[1] > 200 and abs(operands[0]) > 1:
        return OverflowError, "natif: an int left the range of 64 bits"
    try:
        value = function(*operands)
    except Exception as error:
        return type(error), str(error)
    if result == "int" and type(value) is int and not -(2**63) <= value < 2**63:
        return OverflowError, "natif: an int left the range of 64 bits"
    return value


def actual(function, *operands):
    """What native code itself gives. The bodies below never raise, so that its errors arrive as the cause of a reported bug."""
    try:
        return function(*operands)
    except Exception as error:
        raised = error.__cause__ or error
        return type(raised), str(raised)


def same(one, other):
    if isinstance(one, float) and isinstance(other, float):
        return struct.pack("d", one) == struct.pack("d", other) or (math.isnan(one) and math.isnan(other))
    return type(one) is type(other) and one == other


@pytest.fixture(scope="module")
def functions():
    text, bodies = "", {}
    for name, left, right, result, _ in binary_cases():
        key = f"{name}.{left}.{right}"
        text += f"func {key}(%a.0: {left}, %b.1: {right}) -> {result} {{ %2: {result} = scalar.{name}(%a.0, %b.1) return(%2) }}\n"
        bodies[key] = body({"a": left, "b": right})
    for name, operand, result in UNARY:
        key = f"{name}.{operand}"
        text += f"func {key}(%a.0: {operand}) -> {result} {{ %1: {result} = scalar.{name}(%a.0) return(%1) }}\n"
        bodies[key] = body({"a": operand})
    return evaluated(text, bodies)


def body(kinds):
    """A function that tells by its result that native code has left the call to it; it uses no name of a module."""
    made = eval(f"lambda {', '.join(kinds)}: 'left to Python'")
    made.__annotations__ = {name: {"int": int, "float": float, "bool": bool}[kind] for name, kind in kinds.items()}
    return made


@pytest.mark.parametrize("case", list(binary_cases()), ids=lambda case: f"{case[0]}-{case[1]}-{case[2]}")
def test_binary(functions, case):
    name, left, right, result, function = case
    native = functions[f"{name}.{left}.{right}"]
    for a, b in itertools.product(VALUES[left], VALUES[right]):
        want, got = expected(function, result, a, b), actual(native, a, b)
        other_type = type(want) is complex or (result == "int" and type(want) is float) or want == (OverflowError, "complex exponentiation")
        if other_type:
            assert got == "left to Python", (a, b)
        else:
            assert same(got, want), (a, b, got, want)


@pytest.mark.parametrize("case", list(UNARY), ids="-".join)
def test_unary(functions, case):
    name, operand, result = case
    for a in VALUES[operand]:
        want, got = expected(UNARY[case], result, a), actual(functions[f"{name}.{operand}"], a)
        assert same(got, want), (a, got, want)
