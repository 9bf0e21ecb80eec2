"""The long chain: 512×96 · 96×80, relu, twelve times (relu or sigmoid, tanh), softmax, argmax. Every sixth round takes sigmoid: more of
them would draw all values together, and answers that are all alike check nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bench.case import Case, Ops, normal, random_of

BATCH, FEATURES, CLASSES, ROUNDS = 512, 96, 80, 12


def express(ops: Ops, t: Mapping[str, Any]) -> tuple[Any, Any]:
    h = ops.relu(ops.matmul(t["x"], t["w"]))
    for i in range(ROUNDS):
        h = ops.tanh(ops.sigmoid(h) if i % 6 == 0 else ops.relu(h))
    p = ops.softmax(h)
    return p, ops.argmax(p)


def cases() -> Iterator[Case]:
    rng = random_of("chain")
    yield Case(
        workload="chain",
        name="chain",
        title="512×96 · 96×80, relu, 12 × (relu or sigmoid, tanh), softmax, argmax",
        function="chain",
        witness="probabilities",
        express=express,
        tensors={"x": normal(rng, BATCH, FEATURES), "w": normal(rng, FEATURES, CLASSES, scale=0.1)},
        data=("x",),
        scalars={"rounds": ROUNDS},
    )
