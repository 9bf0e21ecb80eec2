"""What the boundary costs: functions that do next to nothing, whose differences summary.py turns into the cost of a call, of one more
tensor argument, of a result and of the guards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from bench.case import Case, Ops, normal, random_of

CONTENDERS = ("eager", "bare_tfe", "natif_tfe", "natif_exact")


def passed_through(ops: Ops, t: Mapping[str, Any]) -> tuple[Any, Any]:
    return t["a"], t["a"]


def relu_of_first(ops: Ops, t: Mapping[str, Any]) -> tuple[Any, Any]:
    out = ops.relu(t["a"])
    return out, out


def cases() -> Iterator[Case]:
    rng = random_of("boundary")
    tensors = {name: normal(rng, 1) for name in "abcdefgh"}
    first = {"a": tensors["a"]}

    def case(name: str, title: str, express: Any, arguments: dict[str, np.ndarray], **more: Any) -> Case:
        return Case("boundary", f"boundary/{name}", title, name, express, arguments, tuple(arguments), only=CONTENDERS, **more)

    yield case("empty", "a call that does nothing", lambda ops, t: (7, 7), {}, scalars={"n": 7})
    yield case("same", "one tensor in, the same tensor out", passed_through, first)
    yield case("one", "one tensor in, one new tensor out", relu_of_first, first)
    yield case("eight", "eight tensors in, one new tensor out", relu_of_first, tensors)
