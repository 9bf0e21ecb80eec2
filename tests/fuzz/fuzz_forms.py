"""Random calls of the registry's ops: which operands, which spelling, which attributes, positional or by keyword. An expression is
written, then computed by eager on a sample of each variable; what eager refuses is thrown away and another one is tried."""

from __future__ import annotations

import functools
import random
import re
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from natif import _compiler


class Retry(Exception):
    """What was tried does not fit; the caller tries something else."""


@dataclass(frozen=True)
class Expression:
    """Text and its value on the sample."""

    text: str
    value: Any


@functools.cache
def ops() -> list[dict[str, Any]]:
    """The ops that have calls."""
    return [op for op in _compiler.registry() if op["spellings"]]


@functools.cache
def by_shape(kernel: str) -> list[dict[str, Any]]:
    return [op for op in ops() if op["kernel"] == kernel]


def operands_of(op: dict[str, Any]) -> list[str]:
    return [parameter["name"] for parameter in op["parameters"] if parameter["kind"] == "operand"]


def takes_numbers(op: dict[str, Any]) -> bool:
    """Whether one of the op's examples has a number next to a tensor."""
    return len(operands_of(op)) == 2 and any(re.search(r"[(,=] ?[\d.]+\)|\bs\b", example) for example in op["examples"])


def evaluate(text: str, variables: dict[str, Any]) -> Expression:
    """The expression with eager's value; Retry where eager raises."""
    try:
        return Expression(text, eval(text, {"tf": tf}, variables))
    except Exception as error:
        raise Retry from error


def called(rng: random.Random, op: dict[str, Any], given: dict[str, str], operator: bool = True) -> str:
    """The text of a call with these arguments, in one of its forms."""
    operands = [given[name] for name in operands_of(op)]
    if operator and op["operator"] and len(given) == len(operands) and rng.random() < 0.5:
        if len(operands) == 2:
            return f"({operands[0]} {op['operator']} {operands[1]})"
        return f"abs({operands[0]})" if op["operator"] == "abs()" else f"(-{operands[0]})"
    names = [parameter["name"] for parameter in op["parameters"]]
    positional = rng.choice([len(operands)] * 6 + [0, len(names)])
    arguments, gap = [], False
    for index, name in enumerate(names):
        gap = gap or name not in given
        if name in given:
            arguments.append(given[name] if index < positional and not gap else f"{name}={given[name]}")
    if "name" in names and rng.random() < 0.05:
        arguments.append("name='n'")
    return f"{rng.choice(op['spellings'])}({', '.join(arguments)})"


def attributes(rng: random.Random, op: dict[str, Any], value: tf.Tensor) -> dict[str, str]:
    """Some of the attributes that a call with this first operand may have."""
    rank, kernel = value.shape.rank, op["kernel"]
    names = {parameter["name"] for parameter in op["parameters"] if parameter["kind"] == "attribute"}
    chosen = {}
    if "axis" in names and rng.random() < 0.85:
        axes = [rng.randrange(-rank, rank)] if rank else []
        if kernel == "reduction" and rng.random() < 0.5:
            picked = rng.sample(range(rank), rng.randint(0, rank))
            signed = [axis - rank if rng.random() < 0.3 else axis for axis in picked]
            text = ", ".join(map(str, signed))
            chosen["axis"] = f"[{text}]" if rng.random() < 0.6 or not signed else f"({text},)"
        elif axes:
            chosen["axis"] = rng.choice([str(axes[0])] * 5 + ["None"])
    if "keepdims" in names and rng.random() < 0.5:
        chosen["keepdims"] = rng.choice(["True", "False"])
    if "output_type" in names and kernel == "arg_reduction" and rng.random() < 0.2:
        chosen["output_type"] = rng.choice(["tf.int32", "tf.int64"])
    if "perm" in names and rng.random() < 0.6:
        chosen["perm"] = str(rng.sample(range(rank), rank))
    if "data_format" in names and rng.random() < 0.4:
        chosen["data_format"] = rng.choice(["'NHWC'", "'NCHW'"])
    for side in "ab":
        for flag in (f"transpose_{side}", f"adjoint_{side}"):
            if flag in names and rng.random() < 0.15 and not any(name.endswith(f"_{side}") for name in chosen):
                chosen[flag] = rng.choice(["True", "True", "False"])
    return chosen


def product_is_safe(left: tf.Tensor, right: tf.Tensor) -> bool:
    """Not where TensorFlow 2.21 itself computes nonsense: several batch axes that broadcast."""
    one, other = left.shape[:-2], right.shape[:-2]
    return max(one.rank, other.rank) <= 1 or one == other


def call(rng: random.Random, op: dict[str, Any], operands: list[Expression], variables: dict[str, Any]) -> Expression:
    """A call of the op on these operands; Retry where they don't fit."""
    tensors = [operand for operand in operands if tf.is_tensor(operand.value)]
    if any(tensor.value.dtype != tf.float32 for tensor in tensors):
        raise Retry
    if op["kernel"] == "contraction" and not product_is_safe(operands[0].value, operands[1].value):
        raise Retry
    given = {name: operand.text for name, operand in zip(operands_of(op), operands, strict=True)}
    given |= attributes(rng, op, tensors[0].value)
    text = called(rng, op, given, operator=op["operator"] != "@" or len(given) == 2)
    return evaluate(text, variables)
