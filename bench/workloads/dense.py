"""Two 1024-wide dense layers at batch 256: the work that natif should leave to TensorFlow's own matmul where that is faster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bench.case import Case, Ops, normal, random_of
from bench.case import dense as dense_layer

BATCH, WIDTH = 256, 1024


def express(ops: Ops, t: Mapping[str, Any]) -> tuple[Any, Any]:
    h = ops.relu(ops.bias_add(ops.matmul(t["x"], t["w1"]), t["b1"]))
    h = ops.relu(ops.bias_add(ops.matmul(h, t["w2"]), t["b2"]))
    return h, h


def cases() -> Iterator[Case]:
    rng = random_of("dense")
    w1, b1 = dense_layer(rng, WIDTH, WIDTH)
    w2, b2 = dense_layer(rng, WIDTH, WIDTH)
    yield Case(
        workload="dense",
        name="dense",
        title="two 1024-wide dense layers, batch 256",
        function="dense",
        express=express,
        tensors={"x": normal(rng, BATCH, WIDTH), "w1": w1, "b1": b1, "w2": w2, "b2": b2},
        data=("x",),
    )
