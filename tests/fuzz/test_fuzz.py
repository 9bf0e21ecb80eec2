"""Random programs: every lane gives eager's bits or eager's class of error. FUZZ_SEED chooses other programs; `make fuzz` runs longer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fuzzing import Failure, Totals, compare_all, load, program, run_round

SEED = int(os.environ.get("FUZZ_SEED", "20250"))
INTERPRETED, INTERPRETED_TOGETHER = 2000, 50
COMPILED_MODULES, COMPILED_TOGETHER = 4, 30


def build(seed: int) -> Any:
    """A source of generated functions with all of them compiled in both lanes."""
    source, functions = program(seed, COMPILED_TOGETHER)
    module = load(source)
    native = {lane: module.lane(lane, [function.name for function in functions]) for lane in ("auto", "tfe")}
    module.build(native["auto"])
    return seed, source, functions, module, native


@pytest.fixture(scope="module")
def builds() -> Iterator[list[Any]]:
    """The modules that are compiled, built by two threads while the others are interpreted."""
    with ThreadPoolExecutor(2) as pool:
        yield [pool.submit(build, SEED + 1000 + number) for number in range(COMPILED_MODULES)]


def test_graphs_before_and_after_the_passes(builds: list[Any]) -> None:
    totals = Totals()
    for number in range(INTERPRETED // INTERPRETED_TOGETHER):
        run_round(SEED + number, INTERPRETED_TOGETHER, ("graph", "passes"), totals)
    assert totals.functions == INTERPRETED
    for lane in ("graph", "passes"):
        assert totals.native[lane] > 0.8 * totals.calls[lane]
    assert 0 < totals.errors < 0.2 * totals.calls["graph"]


@pytest.mark.parametrize("number", range(COMPILED_MODULES))
def test_compiled(builds: list[Any], number: int) -> None:
    totals = Totals()
    compare_all(*builds[number].result(), totals, calls_each=6)
    for lane in ("auto", "tfe"):
        assert totals.native[lane] > 0.8 * totals.calls[lane]


def test_a_difference_is_reported_with_a_small_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fuzzer itself: an interpreter that takes tanh for sigmoid is found out, and the program that shows it is small."""
    from fuzz_lanes import Module

    honest = Module.lane

    def wrong(self: Any, lane: str, names: Any) -> Any:
        for claim in self.claims.values():
            claim["ir"] = claim["ir"].replace("= Sigmoid(", "= Tanh(")
        return honest(self, lane, names)

    monkeypatch.setattr(Module, "lane", wrong)
    with pytest.raises(Failure, match=r"^seed \d+\nlane graph: f\d+\(") as failure:
        run_round(SEED, 150, ("graph",), Totals())
    program_text = str(failure.value).partition("\n\n")[2]
    assert "sigmoid" in program_text
    assert program_text.count("\n") <= 12, program_text


def test_a_seed_is_a_program() -> None:
    assert program(SEED, 5)[0] == program(SEED, 5)[0] != program(SEED + 1, 5)[0]
