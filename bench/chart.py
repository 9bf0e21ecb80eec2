"""The run as an SVG picture: the scoring function at each batch size, one bar a contender, on a logarithmic scale of µs a call. The same
results always give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from math import ceil, floor, log10

from bench.report import labels, number, threads_text
from bench.summary import Results
from bench.workloads.score import BATCHES

WIDTH, LEFT, RIGHT, TOP = 860, 210, 120, 64
ROW, BAR, PANEL_HEAD = 17, 12, 30
OURS, HAND, OTHERS, INK, GRID = "#c2410c", "#57534e", "#94a3b8", "#1c1917", "#e7e5e4"
HEADING = "Standardise, dense, relu, dense, softmax, argmax (32→64→8)"
FONT = "font-family='system-ui, sans-serif'"


def colour_of(name: str) -> str:
    return OURS if name.startswith("natif") else HAND if name in ("handwritten", "bare_tfe") else OTHERS


class Scale:
    """µs to pixels, logarithmic over whole decades around the values."""

    def __init__(self, values: list[float]) -> None:
        self.low, self.high = floor(log10(min(values))), max(ceil(log10(max(values))), floor(log10(min(values))) + 1)

    def x(self, value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (log10(value) - self.low) / (self.high - self.low)

    def decades(self) -> list[float]:
        return [10.0**power for power in range(self.low, self.high + 1)]


def text_at(x: float, y: float, content: str, size: int = 11, anchor: str = "start", weight: str = "normal") -> str:
    style = f"font-size='{size}' text-anchor='{anchor}' font-weight='{weight}' fill='{INK}' {FONT}"
    return f"<text x='{x:.1f}' y='{y:.1f}' {style}>{escape(content)}</text>"


def panel(rows: list[tuple[str, str, float]], eager: float, top: int, title: str, scale: Scale) -> Iterator[str]:
    """One batch size: its title, the grid, and a bar for each (name, label, µs)."""
    bottom = top + PANEL_HEAD + ROW * len(rows)
    yield text_at(12, top + 20, title, 13, weight="600")
    for tick in scale.decades():
        yield f"<line x1='{scale.x(tick):.1f}' y1='{top + PANEL_HEAD - 4}' x2='{scale.x(tick):.1f}' y2='{bottom}' stroke='{GRID}'/>"
        yield text_at(scale.x(tick), top + 20, f"{tick:g} µs", 10, "middle")
    for index, (name, label, microseconds) in enumerate(rows):
        y = top + PANEL_HEAD + ROW * index
        yield text_at(LEFT - 8, y + BAR - 2, label, anchor="end", weight="600" if name.startswith("natif") else "normal")
        yield f"<rect x='{LEFT}' y='{y}' width='{max(1.0, scale.x(microseconds) - LEFT):.1f}' height='{BAR}' fill='{colour_of(name)}'/>"
        yield text_at(scale.x(microseconds) + 5, y + BAR - 2, f"{number(microseconds)} µs, {number(eager / microseconds)} ×", 10)


def svg(results: Results, threads: int) -> str:
    """The chart for one thread setting; ValueError where the run has no scoring case."""
    names = labels()
    panels = []
    for batch in BATCHES:
        times = {name: results.microseconds(threads, f"score/{batch}", name) for name in names}
        rows = [(name, names[name], time.median) for name, time in times.items() if time is not None]
        eager = times["eager"]
        if eager is not None:
            panels.append((f"batch {batch:,}", rows, eager.median))
    if not panels:
        raise ValueError("no scoring case was measured")
    scale = Scale([microseconds for _, rows, _ in panels for _, _, microseconds in rows])
    body: list[str] = []
    top = TOP
    for title, rows, eager_time in panels:
        body += panel(rows, eager_time, top, title, scale)
        top += PANEL_HEAD + ROW * len(rows) + 14
    machine, count = results.content["machine"], len(results.processes(threads))
    plural = "process" if count == 1 else "processes"
    head = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{top}' viewBox='0 0 {WIDTH} {top}'>",
        f"<rect width='{WIDTH}' height='{top}' fill='white'/>",
        text_at(12, 24, f"{HEADING}: µs a call, and times eager's speed", 15, weight="600"),
        text_at(
            12,
            44,
            f"{machine['cpu']}, {threads_text(threads)}; medians over {count} {plural}; logarithmic scale",
        ),
    ]
    return "\n".join([*head, *body, "</svg>", ""])
