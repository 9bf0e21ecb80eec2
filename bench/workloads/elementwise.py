"""Seven elementwise ops over 1,048,576 floats: bound by memory unless they are one loop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bench.case import Case, Ops, normal, random_of, spread

ROWS, COLUMNS = 1024, 1024


def express(ops: Ops, t: Mapping[str, Any]) -> tuple[Any, Any]:
    y = ops.add(ops.multiply(t["x"], t["scale"]), t["shift"])
    out = ops.multiply(ops.relu(ops.subtract(ops.tanh(y), ops.sigmoid(y))), t["x"])
    return out, out


def cases() -> Iterator[Case]:
    rng = random_of("elementwise")
    yield Case(
        workload="elementwise",
        name="elementwise",
        title="7 elementwise ops over 1,048,576 floats",
        function="elementwise",
        express=express,
        tensors={"x": normal(rng, ROWS, COLUMNS), "scale": spread(rng, COLUMNS), "shift": normal(rng, COLUMNS)},
        data=("x",),
    )
