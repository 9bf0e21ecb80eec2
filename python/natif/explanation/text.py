"""The explanation for a terminal."""

from natif.cli.terminal import Terminal
from natif.explanation.facts import Explanation
from natif.report import reason_of

_COLOURS = {"fused": "green", "tfe": "blue", "python": "yellow"}


def write(explanation: Explanation, terminal: Terminal) -> None:
    """The source with its lanes, the graph, the kernels and the C++."""
    report = explanation.report
    verdict = "is native" if report.is_native else f"stays Python: {reason_of(report)}"
    terminal.line(f"{terminal.paint(f'{explanation.module}:{explanation.name}', 'bold')} {verdict}")
    _heading("source", terminal)
    for line in explanation.lines:
        lanes = " ".join(terminal.paint(f"{lane:<6}", _COLOURS.get(lane, "cyan")) for lane in line.lanes)
        terminal.line(f"{line.number:>5}  {lanes or '      '}  {line.text}")
        for site in line.sites:
            if site.outcome != "Claimed":
                terminal.line(f"{'':>15}{terminal.paint(site.code, 'bold', 'red')} {site.message}; {site.suggestion}")
    for name, content in (("graph", explanation.ir), ("kernels", explanation.plan), ("C++", explanation.cpp)):
        if content:
            _heading(name, terminal)
            terminal.line(content.rstrip())


def _heading(name: str, terminal: Terminal) -> None:
    terminal.line()
    terminal.line(terminal.paint(f"---- {name}", "bold", "cyan"))
