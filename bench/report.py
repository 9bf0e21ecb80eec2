"""The run as text for a terminal: every case with every contender, the boundary's costs, build times, and the bars."""

from __future__ import annotations

from collections.abc import Iterator

from bench import contenders
from bench.bars import Verdict, verdicts
from bench.build_times import seconds
from bench.summary import COSTS, Results, Spread


def threads_text(threads: int) -> str:
    return "default threads" if threads == 0 else "one thread" if threads == 1 else f"{threads} threads"


def number(value: float) -> str:
    """Three significant digits, no exponent, thousands grouped."""
    if value == 0:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def spread_text(spread: Spread, unit: str = "") -> str:
    return f"{number(spread.median)}{unit} [{number(spread.low)}–{number(spread.high)}]"


def labels() -> dict[str, str]:
    return {contender.name: contender.label + (" (weights held)" if contender.bound else "") for contender in contenders.contenders(1)}


def case_lines(results: Results, case: str, threads: int, names: dict[str, str]) -> Iterator[str]:
    yield f"\n{case}, {threads_text(threads)}"
    for name, label in names.items():
        entry = results.entry(threads, case, name)
        if entry is None:
            continue
        time, ratio = results.microseconds(threads, case, name), results.ratio(threads, case, name)
        if time is None or ratio is None:
            yield f"  {label:36} {entry['status']}: {entry['reason']}"
        else:
            same = "same bits" if entry["bits_equal"] else ""
            yield f"  {label:36} {number(time.median):>9} µs   {spread_text(ratio, ' ×'):24} {same}".rstrip()


def cost_lines(results: Results, threads: int) -> Iterator[str]:
    yield f"\nboundary, {threads_text(threads)}"
    for name in COSTS:
        cost = results.cost(threads, name)
        yield f"  {name:36} {spread_text(cost, ' µs') if cost else 'not measured'}"


def build_lines(results: Results, names: dict[str, str]) -> Iterator[str]:
    yield "\nfrom the Python function to the first answer, seconds"
    for name, entry in results.content["build"].items():
        if "reason" in entry:
            yield f"  {names[name]:36} not available: {entry['reason']}"
            continue
        warm = seconds(entry, "warm")
        yield f"  {names[name]:36} {seconds(entry, 'cold'):9.3f}" + (f"   from the cache {warm:.4f}" if warm is not None else "")


def verdict_line(verdict: Verdict) -> str:
    answer = {True: "met", False: "MISSED", None: "NOT MEASURED"}[verdict.met]
    found = spread_text(verdict.measured, f" {verdict.unit}".rstrip()) if verdict.measured else verdict.reason
    return f"  {verdict.kind:5} {verdict.text:52} {verdict.limit:>10}   {threads_text(verdict.threads):16} {answer:13} {found}"


def load_lines(results: Results) -> Iterator[str]:
    """A warning where others were at work: the runs before leave at most one thread a core in the load average."""
    highest = max((process["load"] for process in results.content["processes"]), default=0.0)
    if highest > results.content["machine"]["cores"] + 0.5:
        yield f"WARNING: the machine was busy with other work (load {highest:.1f}); these numbers are no result"


def text(results: Results) -> str:
    """The whole report."""
    names = labels()
    lines = [*load_lines(results)]
    for case in results.cases():
        for threads in results.settings():
            lines += case_lines(results, case, threads, names)
    for threads in results.settings():
        lines += cost_lines(results, threads)
    lines += build_lines(results, names)
    judged = verdicts(results)
    lines += ["\nbars and goals", *map(verdict_line, judged), *load_lines(results)]
    for kind in ("bar", "goal"):
        of_kind = [verdict.met for verdict in judged if verdict.kind == kind]
        lines.append(f"  {kind}s: {of_kind.count(True)} met, {of_kind.count(False)} missed, {of_kind.count(None)} not measured")
    return "\n".join(lines)
