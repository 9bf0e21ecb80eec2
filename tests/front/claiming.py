"""Claims of programs written as text, without a file."""

import ast
from typing import Any

from natif import _compiler

HEAD = """\
import tensorflow as tf
import natif
from natif.types import *
"""

PARAMETERS = ", ".join(
    [f"{name}{rank}: TensorF32Cpu{rank}D" for name in "xy" for rank in range(7)]
    + ["w2: TensorF32Cpu2D", "b1: TensorF32Cpu1D", "i1: TensorI64Cpu1D", "n: int", "s: float", "flag: bool"]
)


def claims(program: str, name: str = "program") -> list[dict[str, Any]]:
    """Of a whole module."""
    return _compiler.claim_module(ast.parse(program), "program.py", name)


def claim(program: str) -> dict[str, Any]:
    """Of the last function of a module, under the usual imports."""
    return claims(HEAD + program)[-1]


def body_claim(body: str, result: str = "") -> dict[str, Any]:
    """Of a function with this body over the parameters of the op registry's examples."""
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return claim(f"def f({PARAMETERS}){result}:\n{lines}")


def example_claim(diagnostic: dict[str, Any]) -> dict[str, Any]:
    """Of the program that triggers a diagnostic."""
    example = diagnostic["example"]
    if diagnostic["of_op"]:
        return body_claim(f"return {example}")
    return claim(example) if "def " in example else body_claim(example)


def refusals(found: dict[str, Any]) -> list[tuple[str, str]]:
    """The codes and messages of the sites that keep a function Python."""
    return [(site["code"], site["message"]) for site in found["sites"] if site["outcome"] != "Claimed"]
