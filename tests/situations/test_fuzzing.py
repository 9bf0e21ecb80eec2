"""Random programs under random stacks of situations; FUZZ_SEED chooses others, `make fuzz` runs longer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from fuzz_situations import LAYERS, Covered, made, run_round

SEED = int(os.environ.get("FUZZ_SEED", "30300"))
INTERPRETED, TOGETHER = 500, 50


@pytest.fixture(scope="module")
def compiled() -> Iterator[Future[Any]]:
    """50 functions, compiled while the interpreted ones run."""
    module, functions, native = made(SEED, 50, "auto")
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(lambda: (module.build(native), functions, native)[1:])


def check(covered: Covered, calls: int) -> None:
    assert covered.calls == calls
    assert covered.native > 0.15 * calls
    assert 0 < covered.errors < 0.5 * calls
    assert covered.again < 0.05 * calls
    assert set(covered.layers) == set(LAYERS)


@pytest.mark.situation(
    "Fuzzing",
    "500 random programs under random stacks of situations, interpreted from the graph",
    eager="",
    natif="the same values, bits, errors, gradients, devices and ops seen by callbacks",
)
def test_interpreted(compiled: Future[Any]) -> None:
    covered = Covered()
    for number in range(INTERPRETED // TOGETHER):
        _, functions, native = made(SEED + number, TOGETHER, "graph")
        run_round(SEED + number, functions, native, covered)
    check(covered, INTERPRETED)


@pytest.mark.situation("Fuzzing", "50 of them compiled, each under three stacks", eager="", natif="the same")
def test_compiled(compiled: Future[Any]) -> None:
    covered = Covered()
    run_round(SEED, *compiled.result(), covered, repeats=3)
    check(covered, 150)
