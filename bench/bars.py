"""The bars and goals that natif is held to, as data, and whether a run met them. A bar is what natif promises; a goal lies beyond it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

from bench.build_times import seconds
from bench.summary import Results, Spread

BATCHES = (1, 16, 128, 1024)


@dataclass(frozen=True)
class Verdict:
    """One bar under one thread setting. `measured` is None where the run has no number for it; `reason` then says why."""

    kind: str
    text: str
    limit: str
    threads: int
    measured: Spread | None
    unit: str
    met: bool | None
    reason: str = ""


@dataclass(frozen=True)
class Speed:
    """`contender` is at least `at_least` times as fast as `against`."""

    kind: str
    case: str
    contender: str
    against: str
    at_least: float

    def verdict(self, results: Results, threads: int) -> Verdict:
        measured = results.ratio(threads, self.case, self.contender, self.against)
        reason = ""
        if measured is None:
            missing = self.contender if results.microseconds(threads, self.case, self.contender) is None else self.against
            reason = f"{missing} {results.reason(threads, self.case, missing)}"
        met = None if measured is None else measured.median >= self.at_least
        return Verdict(
            self.kind, f"{self.case}: {self.contender} / {self.against}", f"≥ {self.at_least:g} ×", threads, measured, "×", met, reason
        )


def _speeds(kind: str, contender: str, against: str, *limits: float) -> Iterator[Speed]:
    for batch, limit in zip(BATCHES, limits, strict=True):
        yield Speed(kind, f"score/{batch}", contender, against, limit)


SPEEDS = (
    *_speeds("bar", "natif_exact", "eager", 100, 70, 25, 7),
    *_speeds("bar", "natif_bound", "litert", 1, 1, 1, 1),
    *_speeds("bar", "natif_exact", "handwritten", 0.9, 0.9, 0.9, 0.9),
    *_speeds("bar", "natif_tfe", "bare_tfe", 0.87, 0.87, 0.87, 0.87),
    Speed("bar", "tiny_op", "natif_tfe", "bare_tfe", 0.87),
    Speed("bar", "chain", "natif_exact", "eager", 2.5),
    Speed("bar", "chain", "natif_fast", "eager", 4),
    Speed("bar", "elementwise", "natif_exact", "eager", 3),
    Speed("bar", "elementwise", "natif_fast", "eager", 4),
    Speed("bar", "elementwise", "natif_exact", "xla", 1),
    Speed("bar", "elementwise", "natif_fast", "xla", 1),
    Speed("bar", "dense", "natif_exact", "eager", 0.97),
    *(Speed("bar", f"mlp/{batch}", "natif_exact", "eager", 1) for batch in BATCHES),
    *(Speed("bar", f"small_batch/{batch}", "natif_exact", "eager", 1) for batch in (1, 16, 128)),
    Speed("bar", "tiny_op", "natif_exact", "eager", 1),
    *_speeds("goal", "natif_exact", "eager", 200, 120, 45, 12),
    *_speeds("goal", "natif_bound", "litert", 2, 2, 1.6, 1.5),
    Speed("goal", "chain", "natif_fast", "litert", 1),
    Speed("goal", "elementwise", "natif_fast", "xla", 1.2),
)

COST_LIMITS = {"one more tensor argument": 0.2, "a result": 1.0, "an empty native call": 0.3}  # µs
PEAK_SHARE = 0.6
COLD_SECONDS, WARM_SECONDS, IMPORT_SECONDS = 2.0, 0.03, 0.06
ARTIFACT_BYTES = 100 * 1024
# The allocator's own movements; a leak of one byte a call lies above it.
GROWTH_BYTES = 64 * 1024


def _at_most(kind: str, text: str, limit: float, unit: str, threads: int, measured: Spread | None, reason: str) -> Verdict:
    met = None if measured is None else measured.median <= limit
    return Verdict(kind, text, f"≤ {limit:g} {unit}", threads, measured, unit, met, "" if measured else reason)


def _costs(results: Results, threads: int) -> Iterator[Verdict]:
    for name, limit in COST_LIMITS.items():
        cases = [f"boundary/{case}" for case in ("empty", "same", "one", "eight")]
        missing = next((case for case in cases if not results.microseconds(threads, case, "natif_exact")), cases[0])
        reason = f"{missing}: natif_exact {results.reason(threads, missing, 'natif_exact')}"
        yield _at_most("bar", name, limit, "µs", threads, results.cost(threads, name), reason)
    share = results.peak_share(threads, "natif_bound")
    yield Verdict(
        "goal",
        "matmul kernel's share of the FMA peak, 128×64×64",
        f"≥ {PEAK_SHARE:g}",
        threads,
        share,
        "",
        None if share is None else share.median >= PEAK_SHARE,
        "" if share else f"natif_bound {results.reason(threads, 'matmul/128', 'natif_bound')}",
    )


def _builds(build: dict[str, Any]) -> Iterator[Verdict]:
    entry = build.get("natif_exact", {"reason": "not in this run"})
    reason = entry.get("reason", "")

    def one(text: str, limit: float, unit: str, value: float | None) -> Verdict:
        return _at_most("bar", text, limit, unit, 1, None if value is None else Spread(value, value, value), reason)

    cold, warm, imports = seconds(entry, "cold"), seconds(entry, "warm"), entry.get("import_seconds")
    grown = [run["growth"] for which in ("cold", "warm") for run in entry.get(which, [])]
    yield one("scoring function: cold build and first call", COLD_SECONDS, "s", cold)
    yield one("scoring function: from the cache, and first call", WARM_SECONDS * 1e3, "ms", None if warm is None else warm * 1e3)
    yield one("import natif after NumPy", IMPORT_SECONDS * 1e3, "ms", median(imports) * 1e3 if imports else None)
    yield one("the artifact", ARTIFACT_BYTES / 1024, "KiB", entry["artifact_bytes"] / 1024 if "artifact_bytes" in entry else None)
    yield one("memory after 100,000 calls more", GROWTH_BYTES / 1024, "KiB", median(grown) / 1024 if grown else None)


def verdicts(results: Results) -> list[Verdict]:
    """Every bar and goal under every thread setting of the run."""
    found = [speed.verdict(results, threads) for speed in SPEEDS for threads in results.settings()]
    found += [verdict for threads in results.settings() for verdict in _costs(results, threads)]
    return [*found, *_builds(results.content["build"])]
