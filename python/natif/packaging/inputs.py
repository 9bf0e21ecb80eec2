"""The inputs that a package's self-test calls its functions with, found from the graphs alone.

Only the shapes have to be found: sizes that an op forces to be equal (the inner sizes of a matrix product, a bias and the last axis) form
one class; a class with a fixed size has that size, every other class takes the size of the case. The values come from a generator that
every Python has (natif.selftest), so a stored input is a size, a seed and whether special values are mixed in.
"""

import re
from dataclasses import dataclass, field
from typing import Any

CASES = (
    {"size": 1, "seed": 1, "special": False},
    {"size": 8, "seed": 2, "special": False},
    {"size": 33, "seed": 3, "special": False},
    {"size": 5, "seed": 4, "special": True},
)
"""One row, one vector, blocks with a tail, and a case with NaN, infinities, both zeros and denormals."""

_VALUE = r"%(?:[^\W\d]\w*\.)?\d+"
_DECLARATION = re.compile(rf"(hidden )?({_VALUE}): (\w+(?:\[[\d?,]*\])?)")
_NODE = re.compile(rf"^\s*({_VALUE}): (\w+(?:\[[\d?,]*\])?) = (\w+)\(([^)]*)\)")
_POINTWISE = {"AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum"}
_SAME_SHAPE = {"Relu", "Sigmoid", "Tanh", "Exp", "Log", "Sqrt", "Abs", "Neg", "Square", "Softmax"}


@dataclass
class _Sizes:
    """Classes of equal sizes (union-find), some with a fixed size."""

    parents: dict[tuple[str, int], tuple[str, int]] = field(default_factory=dict)
    fixed: dict[tuple[str, int], int] = field(default_factory=dict)

    def find(self, size: tuple[str, int]) -> tuple[str, int]:
        while size in self.parents:
            size = self.parents[size]
        return size

    def unite(self, first: tuple[str, int], second: tuple[str, int]) -> None:
        first, second = self.find(first), self.find(second)
        if first == second:
            return
        # Two different fixed sizes may broadcast: they stay apart.
        if first in self.fixed and second in self.fixed:
            return
        if first in self.fixed:
            first, second = second, first
        self.parents[first] = second


def parameters(ir: str) -> list[dict[str, Any]]:
    """The parameters of a graph: `name`, `kind` ("tensor", "int", "float", "bool"), `dtype`, `hidden` and `sizes`.

    `sizes` has for each axis of a tensor a number where it is fixed, else the name of its class.
    """
    sizes = _Sizes()
    ranks: dict[str, int] = {}
    head, _, body = ir.partition(") -> ")
    found = []
    for hidden, value, kind in _DECLARATION.findall(head):
        _declare(value, kind, sizes, ranks)
        found.append((bool(hidden), value, kind))
    for line in body.splitlines():
        match = _NODE.match(line)
        if match:
            value, kind, op, arguments = match.groups()
            _declare(value, kind, sizes, ranks)
            _relate(value, op, arguments, sizes, ranks)
    return [_parameter(hidden, value, kind, sizes, ranks) for hidden, value, kind in found]


def _declare(value: str, kind: str, sizes: _Sizes, ranks: dict[str, int]) -> None:
    match = re.fullmatch(r"\w+\[(.*)\]", kind)
    if match is None:
        return
    dims = match[1].split(",") if match[1] else []
    ranks[value] = len(dims)
    for axis, dim in enumerate(dims):
        if dim.startswith("?") and dim != "?":  # a size with a name, the same wherever the name stands
            sizes.unite((value, axis), (dim, 0))
        elif dim != "?":
            sizes.fixed[value, axis] = int(dim)


def _relate(value: str, op: str, arguments: str, sizes: _Sizes, ranks: dict[str, int]) -> None:
    operands = [operand for operand in re.findall(_VALUE, arguments) if operand in ranks]
    if any(ranks[operand] == 0 for operand in operands) and op not in _POINTWISE:
        return
    if op in ("MatMul", "BatchMatMulV2") and len(operands) == 2:
        _relate_product(value, operands, arguments, sizes, ranks)
    elif op == "BiasAdd" and len(operands) == 2 and "NCHW" not in arguments:
        last = ranks[operands[0]] - 1
        sizes.unite((operands[0], last), (operands[1], 0))
        _same_shape(value, operands[0], sizes, ranks)
    elif op in _POINTWISE:
        for operand in operands:
            _same_shape(value, operand, sizes, ranks)
    elif op in _SAME_SHAPE and operands:
        _same_shape(value, operands[0], sizes, ranks)


def _relate_product(value: str, operands: list[str], arguments: str, sizes: _Sizes, ranks: dict[str, int]) -> None:
    left, right = operands
    if ranks[left] < 2 or ranks[right] < 2 or ranks.get(value, 0) < 2:
        return
    transposed = [bool(re.search(rf"(transpose_{name}|adj_{other})=true", arguments)) for name, other in (("a", "x"), ("b", "y"))]
    row, inner = (ranks[left] - 1, ranks[left] - 2) if transposed[0] else (ranks[left] - 2, ranks[left] - 1)
    inner_right, column = (ranks[right] - 1, ranks[right] - 2) if transposed[1] else (ranks[right] - 2, ranks[right] - 1)
    sizes.unite((left, inner), (right, inner_right))
    sizes.unite((value, ranks[value] - 2), (left, row))
    sizes.unite((value, ranks[value] - 1), (right, column))


def _same_shape(value: str, operand: str, sizes: _Sizes, ranks: dict[str, int]) -> None:
    """Aligned at the last axis, as broadcasting does it."""
    for back in range(1, min(ranks.get(value, 0), ranks[operand]) + 1):
        sizes.unite((value, ranks[value] - back), (operand, ranks[operand] - back))


def _parameter(hidden: bool, value: str, kind: str, sizes: _Sizes, ranks: dict[str, int]) -> dict[str, Any]:
    name = value.removeprefix("%").rpartition(".")[0]
    if value not in ranks:
        return {"name": name, "kind": kind, "hidden": hidden}
    found: list[int | str] = []
    for axis in range(ranks[value]):
        root = sizes.find((value, axis))
        found.append(sizes.fixed[root] if root in sizes.fixed else f"{root[0].removeprefix('%')}:{root[1]}")
    return {"name": name, "kind": "tensor", "dtype": _DTYPES[kind.partition("[")[0]], "hidden": hidden, "sizes": found}


_DTYPES = {"f32": "float32", "f64": "float64", "i32": "int32", "i64": "int64", "bool": "bool"}
