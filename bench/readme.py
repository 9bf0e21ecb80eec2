"""The tables that a run puts into the README, between the lines `<!-- bench:begin -->` and `<!-- bench:end -->`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.build_times import seconds
from bench.report import labels, number, threads_text
from bench.summary import Results
from bench.workloads.score import BATCHES

BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"
OTHER_CASES = ("mlp/1", "mlp/128", "small_batch/1", "small_batch/128", "chain", "elementwise", "dense", "tiny_op")
COLUMNS = ("xla", "litert", "natif_tfe", "natif_exact", "natif_fast", "natif_bound")
TITLES = {
    "mlp": "perceptron 256→256→128→64→1",
    "small_batch": "four rounds of relu or tanh, 32→8",
    "chain": "512×96 · 96×80, 12 × (relu or sigmoid, tanh)",
    "elementwise": "7 elementwise ops, 1,048,576 floats",
    "dense": "two 1024-wide dense layers, batch 256",
    "tiny_op": "8 floats + 8 floats",
}


def cell(results: Results, threads: int, case: str, name: str) -> str:
    """`1.25 µs (211 ×)`, or a dash where the contender was not measured."""
    time, ratio = results.microseconds(threads, case, name), results.ratio(threads, case, name)
    return f"{number(time.median)} µs ({number(ratio.median)} ×)" if time and ratio else "–"


def row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def scoring_table(results: Results, threads: int) -> Iterator[str]:
    yield row(["scoring, 32→64→8", *(f"batch {batch:,}" for batch in BATCHES)])
    yield row(["---"] * (1 + len(BATCHES)))
    for name, label in labels().items():
        cells = [cell(results, threads, f"score/{batch}", name) for batch in BATCHES]
        if any(text != "–" for text in cells):
            strong = f"**{label}**" if name.startswith("natif") else label
            yield row([strong, *cells])


def other_table(results: Results, threads: int) -> Iterator[str]:
    names = labels()
    yield row(["times eager's speed", "eager", *(names[name] for name in COLUMNS)])
    yield row(["---"] * (2 + len(COLUMNS)))
    for case in OTHER_CASES:
        eager = results.microseconds(threads, case, "eager")
        if eager is None:
            continue
        workload, _, batch = case.partition("/")
        ratios = [results.ratio(threads, case, name) for name in COLUMNS]
        title = TITLES[workload] + (f", batch {batch}" if batch else "")
        yield row([title, f"{number(eager.median)} µs", *(f"{number(ratio.median)} ×" if ratio else "–" for ratio in ratios)])


def build_line(results: Results) -> Iterator[str]:
    entry = results.content["build"].get("natif_exact", {})
    cold, warm = seconds(entry, "cold"), seconds(entry, "warm")
    if cold is not None and warm is not None:
        yield f"The scoring function's first answer comes {cold:.2f} s after a cold build begins, {warm * 1e3:.0f} ms after from the cache."


def section(results: Results) -> str:
    """The Markdown between the markers."""
    threads = 1 if 1 in results.settings() else results.settings()[0]
    machine, versions = results.content["machine"], results.content["versions"]
    count = len(results.processes(threads))
    tensorflow = versions.get("tensorflow-cpu", "of unknown version")
    intro = (
        f"{machine['cpu']}, {machine['cores']} cores, {threads_text(threads)}, TensorFlow {tensorflow}: medians of {count} processes "
        "in which all contenders were timed in turn; in brackets, times eager's speed. Every answer was first held against eager's."
    )
    parts = [[intro], scoring_table(results, threads), other_table(results, threads), build_line(results)]
    blocks = [*("\n".join(part) for part in parts), "![The scoring function, every contender](bench/results/chart.svg)"]
    return "\n\n".join(block for block in blocks if block)


def filled(text: str, results: Results) -> str:
    """The README's text with the section renewed; ValueError where the markers are not there, once each and in order."""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise ValueError(f"the README needs the lines {BEGIN} and {END}, once each and in this order")
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n\n{section(results)}\n\n{END}{rest.split(END)[1]}"


def fill(path: Path, results: Results) -> None:
    """Renews the section of the README at `path`."""
    path.write_text(filled(path.read_text(), results))
