"""A single tiny op: the sum of two vectors of eight floats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bench.case import Case, Ops, normal, random_of

LENGTH = 8


def express(ops: Ops, t: Mapping[str, Any]) -> tuple[Any, Any]:
    out = ops.add(t["a"], t["b"])
    return out, out


def cases() -> Iterator[Case]:
    rng = random_of("tiny_op")
    yield Case(
        workload="tiny_op",
        name="tiny_op",
        title="one op: 8 floats + 8 floats",
        function="tiny_op",
        express=express,
        tensors={"a": normal(rng, LENGTH), "b": normal(rng, LENGTH)},
        data=("a", "b"),
    )
