"""The small-batch function with scalar-controlled rounds: width 32, 8 classes, four rounds of relu or tanh."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bench.case import Case, Ops, dense, normal, random_of, spread

FEATURES, CLASSES, ROUNDS = 32, 8, 4
BATCHES = (1, 16, 128)


def express(ops: Ops, t: Mapping[str, Any]) -> tuple[Any, Any]:
    h = ops.divide(ops.subtract(t["x"], t["mean"]), t["scale"])
    h = ops.add(ops.multiply(h, t["gain"]), t["offset"])
    for i in range(ROUNDS):
        h = ops.tanh(h) if i % 2 == 0 else ops.relu(h)
    p = ops.softmax(ops.bias_add(ops.matmul(h, t["w"]), t["b"]))
    return p, ops.argmax(p)


def cases() -> Iterator[Case]:
    rng = random_of("small_batch")
    w, b = dense(rng, FEATURES, CLASSES)
    weights = {
        "mean": normal(rng, FEATURES),
        "scale": spread(rng, FEATURES),
        "gain": spread(rng, FEATURES),
        "offset": normal(rng, FEATURES, scale=0.5),
        "w": w,
        "b": b,
    }
    for batch in BATCHES:
        yield Case(
            workload="small_batch",
            name=f"small_batch/{batch}",
            title=f"small-batch function, 4 rounds, batch {batch:,}",
            function="small_batch",
            witness="probabilities",
            express=express,
            tensors={"x": normal(rng, batch, FEATURES), **weights},
            data=("x",),
            scalars={"rounds": ROUNDS},
        )
