"""What the processes of a run measured, added up: medians within a process, ratios of medians, and their spread over the processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from bench.contenders import REFERENCE
from bench.workloads.matmul import BATCHES, WIDTH


@dataclass(frozen=True)
class Spread:
    """One number a process: their median, least and greatest."""

    median: float
    low: float
    high: float

    @staticmethod
    def of(values: list[float]) -> Spread | None:
        return Spread(median(values), min(values), max(values)) if values else None


def in_process(process: Mapping[str, Any], case: str, contender: str) -> float | None:
    """The median of one contender's rounds in one process, in µs; None where it was not measured."""
    times = process["cases"].get(case, {}).get(contender, {}).get("microseconds")
    return median(times) if times else None


class Results:
    """The JSON of a run, with the questions that bars, tables and chart ask of it."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.content = content

    def settings(self) -> list[int]:
        """The thread settings measured, in order; 0 is every contender's default."""
        return list(dict.fromkeys(process["threads"] for process in self.content["processes"]))

    def processes(self, threads: int) -> list[Mapping[str, Any]]:
        return [process for process in self.content["processes"] if process["threads"] == threads]

    def cases(self) -> list[str]:
        return list(self.content["processes"][0]["cases"])

    def over(self, threads: int, number: Callable[[Mapping[str, Any]], float | None]) -> Spread | None:
        """A number of each process, as a spread; None where some process lacks it."""
        values = [number(process) for process in self.processes(threads)]
        return None if None in values else Spread.of([value for value in values if value is not None])

    def microseconds(self, threads: int, case: str, contender: str) -> Spread | None:
        return self.over(threads, lambda process: in_process(process, case, contender))

    def ratio(self, threads: int, case: str, contender: str, against: str = REFERENCE) -> Spread | None:
        """How many times faster than `against`: the ratio of the two medians in each process."""

        def number(process: Mapping[str, Any]) -> float | None:
            mine, theirs = in_process(process, case, contender), in_process(process, case, against)
            return None if mine is None or theirs is None else theirs / mine

        return self.over(threads, number)

    def entry(self, threads: int, case: str, contender: str) -> Mapping[str, Any] | None:
        """What the first process says of a contender, or the first that did not measure it."""
        entries = [process["cases"][case][contender] for process in self.processes(threads) if contender in process["cases"].get(case, {})]
        return next((entry for entry in entries if entry["status"] != "measured"), entries[0] if entries else None)

    def reason(self, threads: int, case: str, contender: str) -> str:
        """Why a number is missing."""
        entry = self.entry(threads, case, contender)
        return "not in this run" if entry is None else f"{entry['status']}: {entry['reason']}"

    def cost(self, threads: int, name: str) -> Spread | None:
        """One of COSTS, in µs."""
        return self.over(threads, lambda process: COSTS[name](lambda case, contender: in_process(process, case, contender)))

    def peak_share(self, threads: int, contender: str) -> Spread | None:
        """The matmul kernel's share of the core's FMA peak: the flops that the larger batch has more, over the time that it takes more."""
        few, many = BATCHES
        flops = 2.0 * (many - few) * WIDTH * WIDTH

        def share(process: Mapping[str, Any]) -> float | None:
            short, long = in_process(process, f"matmul/{few}", contender), in_process(process, f"matmul/{many}", contender)
            peak = process["fma_peak_gflops"]
            if short is None or long is None or peak is None or long <= short:
                return None
            return float(flops / ((long - short) * 1e3) / peak)

        return self.over(threads, share)


# A contender's time on a case, in one process.
Lookup = Callable[[str, str], float | None]


def _difference(lookup: Lookup, more: tuple[str, str], less: tuple[str, str], parts: int = 1) -> float | None:
    high, low = lookup(*more), lookup(*less)
    return None if high is None or low is None else (high - low) / parts


COSTS: dict[str, Callable[[Lookup], float | None]] = {
    "an empty native call": lambda at: at("boundary/empty", "natif_exact"),
    "one more tensor argument": lambda at: _difference(at, ("boundary/eight", "natif_exact"), ("boundary/one", "natif_exact"), 7),
    "a result": lambda at: _difference(at, ("boundary/one", "natif_exact"), ("boundary/same", "natif_exact")),
    "guards and binding": lambda at: _difference(at, ("boundary/same", "natif_exact"), ("boundary/same", "bare_tfe")),
    "one more argument, bare C++": lambda at: _difference(at, ("boundary/eight", "bare_tfe"), ("boundary/one", "bare_tfe"), 7),
}
