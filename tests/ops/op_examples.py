"""The examples of the op registry as programs: values for the names that they use, and functions that compute them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from natif import _compiler

NAMES = re.compile(r"\b(?:[xy][0-6]|w2|b1|i1|n|s|flag)\b")
SCALARS = {"n": "int", "s": "float", "flag": "bool"}
LIMITS = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 1.1754944e-38, 3.4028235e38, -3.4028235e38]
SPECIAL = np.array([*LIMITS, 1.0, 0.5, 88.7, -87.3, 1e-7, -1e-7, 16.6, 9.5], np.float32)


@dataclass(frozen=True)
class Example:
    """One call of an op that is native."""

    node: str
    kernel: str
    name: str
    expression: str

    @property
    def parameters(self) -> list[str]:
        return sorted(set(NAMES.findall(self.expression)))


def registry() -> list[dict[str, Any]]:
    return list(_compiler.registry())


def examples() -> list[Example]:
    return [
        Example(op["node"], op["kernel"], f"{op['node'].lower()}_{i}", expression)
        for op in registry()
        for i, expression in enumerate(op["examples"])
    ]


def marker(name: str) -> str:
    """The annotation of a parameter."""
    if name in SCALARS:
        return SCALARS[name]
    return 'Tensor["int64", 1]' if name == "i1" else f'Tensor["float32", {name[1]}]'


def result_annotation(expression: str) -> str:
    result = eval(expression, {"tf": tf}, tensors(np.random.default_rng(0)))
    return f'Tensor["{result.dtype.name}", {result.shape.rank}]'


def function_source(name: str, expression: str, result: str) -> str:
    parameters = ", ".join(f"{parameter}: {marker(parameter)}" for parameter in sorted(set(NAMES.findall(expression))))
    return f"def {name}({parameters}) -> {result}:\n    return {expression}\n"


def tensors(
    rng: np.random.Generator, rows: int = 5, columns: int = 5, special: float = 0.0, names: Iterable[str] | None = None
) -> dict[str, Any]:
    """Values for the names, or for all. Tensors end in (rows, columns); `special` is the share of special values in them."""
    sizes = (2, 1, 3, 2, rows, columns)
    shapes = {f"{letter}{rank}": sizes[6 - rank :] for letter in "xy" for rank in range(7)} | {"w2": (columns, 3), "b1": (columns,)}
    others = {"i1": tf.constant([4, 0, 7], tf.int64), "n": 3, "s": 0.7310585786300049, "flag": True}

    def tensor(shape: tuple[int, ...]) -> tf.Tensor:
        values = (rng.standard_normal(shape) * 3).astype(np.float32)
        chosen = rng.random(shape) < special
        return tf.constant(np.where(chosen, rng.choice(SPECIAL, shape), values))

    return {name: tensor(shapes[name]) if name in shapes else others[name] for name in names or [*shapes, *others]}


def size_pairs() -> Iterator[tuple[int, int]]:
    """(rows, columns): every length from 1 to 40, square ones, single rows and columns, and none at all."""
    for length in range(1, 41):
        yield (length * 7) % 13 + 1, length
    for length in (1, 2, 8, 17):
        yield length, length
    yield from [(0, 0), (0, 5), (5, 0), (1, 0), (0, 1), (1, 40), (33, 1), (16, 8), (40, 16)]


def outcome(call: Any) -> np.ndarray | str:
    """A result's values, or the error that was raised, as "class: text"."""
    try:
        return call().numpy()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def same_bits(one: np.ndarray | str, other: np.ndarray | str) -> bool:
    """Equal classes of errors; or equal shapes, dtypes and bits, where one NaN is as good as another."""
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str) and one.partition(":")[0] == other.partition(":")[0]
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.dtype != np.float32:
        return np.array_equal(one, other)
    nan = np.isnan(one)
    return np.array_equal(nan, np.isnan(other)) and np.array_equal(one.view(np.int32)[~nan], other.view(np.int32)[~nan])
