"""One process of a run: prepares every contender for every case, holds each answer against eager's, times those that are right against each
other, and prints what it found as JSON on the last line of its output. Started by bench.processes, which sets the environment.

Usage: python -m bench.worker '{"threads": 1, "rounds": 21, "seconds": 0.01}'
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from bench import contenders, native_extension, workloads
from bench.case import Array, Call, Case, Contender, NotAvailable
from bench.checks import fault, same_bits
from bench.timing import in_turn

PEAK_SECONDS = 0.3


@dataclass(frozen=True)
class Plan:
    """What a worker is to do. threads 0 is every contender's own default; empty lists mean all."""

    threads: int
    rounds: int
    seconds: float
    only: Sequence[str] = ()
    contenders: Sequence[str] = ()


@dataclass
class Entry:
    """One contender on one case: measured (with µs a call, one a round), wrong or not available (with the reason)."""

    status: str
    reason: str = ""
    bits_equal: bool = False
    microseconds: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Reference:
    """Eager's answers to a case."""

    result: Array
    witness: Array


def reference_of(case: Case, eager: Contender) -> Reference:
    result = eager.value(eager.prepare(case)())
    return Reference(result, eager.value(eager.prepare(case, witness=True)()) if case.witness else result)


def checked(case: Case, contender: Contender, reference: Reference) -> tuple[Entry, Call | None]:
    """The contender's call, if it can be made and its answers are right; the call is made twice, so that what it keeps is tested too."""
    try:
        call = contender.prepare(case)
        contender.value(call())
        got = contender.value(call())
        witness = contender.value(contender.prepare(case, witness=True)()) if case.witness else got
    except NotAvailable as reason:
        return Entry("not available", str(reason)), None
    except Exception as error:
        return Entry("failed", f"{type(error).__name__}: {error}"), None
    wrong = fault(witness, reference.witness, contender.exact) or fault(got, reference.result, contender.exact, reference.witness)
    if wrong:
        return Entry("wrong", wrong), None
    equal = same_bits(witness, reference.witness) and same_bits(got.astype(reference.result.dtype), reference.result)
    return Entry("measured", bits_equal=equal), call


def run_case(case: Case, ready: dict[str, Contender], refused: dict[str, str], plan: Plan) -> dict[str, Entry]:
    """All contenders on one case."""
    reference = reference_of(case, ready[contenders.REFERENCE])
    entries: dict[str, Entry] = {}
    calls: dict[str, Call] = {}
    for name in [name for name in contenders.NAMES if not case.only or name in case.only]:
        if name in refused:
            entries[name] = Entry("not available", refused[name])
        elif name in ready:
            entries[name], call = checked(case, ready[name], reference)
            if call is not None:
                calls[name] = call
    for name, times in in_turn(calls, plan.rounds, plan.seconds).items():
        entries[name].microseconds = times
    return entries


def require_all(plan: Plan) -> tuple[dict[str, Contender], dict[str, str]]:
    """The contenders that can take part, and the reasons of the others."""
    ready, refused = {}, {}
    for contender in contenders.contenders(plan.threads, plan.contenders):
        try:
            contender.require()
            ready[contender.name] = contender
        except NotAvailable as reason:
            refused[contender.name] = str(reason)
    return ready, refused


def fma_peak() -> float | None:
    """The core's float32 FMA peak in GFLOP/s, or None where the extension can't be built."""
    try:
        return float(native_extension.load().fma_peak(PEAK_SECONDS))
    except NotAvailable:
        return None


def run(plan: Plan) -> dict[str, Any]:
    ready, refused = require_all(plan)
    found: dict[str, Any] = {}
    for case in workloads.cases(plan.only):
        print(f"  {case.name}", file=sys.stderr, flush=True)
        found[case.name] = {name: asdict(entry) for name, entry in run_case(case, ready, refused, plan).items()}
    return {"threads": plan.threads, "fma_peak_gflops": fma_peak(), "cases": found}


if __name__ == "__main__":
    outcome = run(Plan(**json.loads(sys.argv[1])))
    print(json.dumps(outcome))
