"""A four-layer perceptron with one output at four batch sizes: more weights than a first-level cache holds, and a one-column head."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from bench.case import Case, Ops, dense, normal, random_of

WIDTHS = (256, 256, 128, 64, 1)
BATCHES = (1, 16, 128, 1024)


def express(ops: Ops, t: Mapping[str, Any]) -> tuple[Any, Any]:
    h = t["x"]
    for layer in (1, 2, 3):
        h = ops.relu(ops.bias_add(ops.matmul(h, t[f"w{layer}"]), t[f"b{layer}"]))
    p = ops.sigmoid(ops.bias_add(ops.matmul(h, t["w4"]), t["b4"]))
    return p, p


def cases() -> Iterator[Case]:
    rng = random_of("mlp")
    weights = {}
    for layer, (inputs, outputs) in enumerate(pairwise(WIDTHS), start=1):
        weights[f"w{layer}"], weights[f"b{layer}"] = dense(rng, inputs, outputs)
    for batch in BATCHES:
        yield Case(
            workload="mlp",
            name=f"mlp/{batch}",
            title=f"perceptron 256→256→128→64→1, batch {batch:,}",
            function="mlp",
            express=express,
            tensors={"x": normal(rng, batch, WIDTHS[0]), **weights},
            data=("x",),
        )
