"""Scoring at four batch sizes: the function that natif is for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bench.case import Case, Ops, dense, normal, random_of, spread

FEATURES, HIDDEN, CLASSES = 32, 64, 8
BATCHES = (1, 16, 128, 1024)


def express(ops: Ops, t: Mapping[str, Any]) -> tuple[Any, Any]:
    z = ops.divide(ops.subtract(t["x"], t["mean"]), t["scale"])
    h = ops.relu(ops.bias_add(ops.matmul(z, t["w1"]), t["b1"]))
    p = ops.softmax(ops.bias_add(ops.matmul(h, t["w2"]), t["b2"]))
    return p, ops.argmax(p)


def cases() -> Iterator[Case]:
    rng = random_of("score")
    w1, b1 = dense(rng, FEATURES, HIDDEN)
    w2, b2 = dense(rng, HIDDEN, CLASSES)
    weights = {"mean": normal(rng, FEATURES, scale=0.2), "scale": spread(rng, FEATURES), "w1": w1, "b1": b1, "w2": w2, "b2": b2}
    for batch in BATCHES:
        yield Case(
            workload="score",
            name=f"score/{batch}",
            title=f"scoring 32→64→8, batch {batch:,}",
            function="score",
            witness="probabilities",
            express=express,
            tensors={"x": normal(rng, batch, FEATURES), **weights},
            data=("x",),
        )
