"""Reading the graph's text form in tests: the claims of a source, and the op nodes of a straight-line graph."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Any

from natif import _compiler

HEADER = "import tensorflow as tf\nfrom natif.types import Tensor\n\n"
NODE = re.compile(r"^  (%\S+): \S+ = ([A-Z]\w*)\(([^)]*)\)")
NUMBER = re.compile(r"^  (%\S+): \S+ = (literal|to_tensor)\(([^)]*)\)")


def claims(source: str) -> dict[str, dict[str, Any]]:
    """The claim of every function of a source that begins with HEADER, by name."""
    return {claim["name"]: claim for claim in _compiler.claim_module(ast.parse(source), "<test>", "test")}


@dataclass(frozen=True)
class Node:
    result: str
    op: str
    operands: list[str]
    attributes: dict[str, Any]


def arguments(text: str) -> tuple[list[str], dict[str, Any]]:
    """`%a.0, %1, axis=[0, 1], keep_dims=false` as operands and attributes."""
    operands, attributes = [], {}
    for part in re.findall(r"%[^\s,]+|\w+=(?:\[[^\]]*\]|\"[^\"]*\"|[^,]+)", text):
        if part.startswith("%"):
            operands.append(part)
        else:
            name, value = part.split("=", 1)
            literals = {"true": True, "false": False, "inf": float("inf"), "nan": float("nan")}
            is_dtype = value in ("float32", "float64", "int32", "int64", "bool")
            attributes[name] = literals[value] if value in literals else value if is_dtype else ast.literal_eval(value)
    return operands, attributes


def nodes(ir: str) -> list[Node]:
    """The op nodes of a graph, in their order."""
    found = [NODE.match(line) for line in ir.splitlines()]
    return [Node(match[1], match[2], *arguments(match[3])) for match in found if match]


def numbers(ir: str) -> list[Node]:
    """The literals of a graph and their conversions to tensors."""
    found = [NUMBER.match(line) for line in ir.splitlines()]
    return [Node(match[1], match[2], *arguments(match[3])) for match in found if match]
