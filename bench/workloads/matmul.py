"""One matmul of 64×64 at 1 and at 128 rows: from the difference of the two comes the share of the core's FMA peak (summary.py)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bench.case import Case, Ops, normal, random_of

WIDTH = 64
BATCHES = (1, 128)


def express(ops: Ops, t: Mapping[str, Any]) -> tuple[Any, Any]:
    out = ops.matmul(t["a"], t["b"])
    return out, out


def cases() -> Iterator[Case]:
    rng = random_of("matmul")
    weights = normal(rng, WIDTH, WIDTH, scale=WIDTH**-0.5)
    for batch in BATCHES:
        yield Case(
            workload="matmul",
            name=f"matmul/{batch}",
            title=f"one matmul {batch}×64 · 64×64",
            function="matmul",
            express=express,
            tensors={"a": normal(rng, batch, WIDTH), "b": weights},
            data=("a",),
            only=("eager", "onnxruntime", "bare_tfe", "natif_tfe", "natif_exact", "natif_fast", "natif_bound"),
        )
