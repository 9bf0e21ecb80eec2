"""The explanation as one HTML file that needs nothing else: no script, no font, no link."""

from html import escape

from natif._version import __version__
from natif.explanation.drawing import draw
from natif.explanation.facts import Explanation, Line
from natif.report import reason_of

STYLE = """
:root { --ink: #1d2330; --paper: #ffffff; --soft: #f3f5f9; --line: #d5dae4; --fused: #1b7f4b; --tfe: #2a5fb0; --python: #a06000; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8f0; --paper: #14171e; --soft: #1e232d; --line: #39414f; --fused: #5fd39a; --tfe: #82b1ff; --python: #f0b45a; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 90rem; padding: 1.5rem; color: var(--ink); background: var(--paper); }
body { font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p { margin: .3rem 0; }
pre, .source, .drawing { background: var(--soft); border: 1px solid var(--line); border-radius: 8px; overflow: auto; }
pre { padding: .8rem; margin: 0; max-height: 40rem; }
pre, .source, svg text { font: 12px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
.source table { border-collapse: collapse; width: 100%; } .source td { padding: 0 .7rem; vertical-align: top; white-space: pre; }
.source .number { text-align: right; opacity: .6; user-select: none; } .source .why { white-space: normal; color: var(--python); }
.lane { display: inline-block; border-radius: 4px; padding: 0 .4rem; color: var(--paper); margin-right: .2rem; }
.lane.fused { background: var(--fused); } .lane.tfe { background: var(--tfe); } .lane.python { background: var(--python); }
.drawing { padding: .5rem; max-height: 60rem; }
svg rect { fill: var(--paper); stroke: var(--line); stroke-width: 1.2; } svg text { fill: var(--ink); } svg .title { font-weight: 600; }
svg .fused > rect { stroke: var(--fused); stroke-width: 2; } svg .tfe > rect { stroke: var(--tfe); stroke-width: 2; }
svg .value > rect { stroke-dasharray: 4 3; } svg .control > rect, svg .region > rect { fill: var(--soft); }
svg .arrow { fill: none; stroke: var(--ink); opacity: .55; } svg marker path { fill: var(--ink); }
"""


def page(explanation: Explanation) -> str:
    """The page's text."""
    report = explanation.report
    title = f"{explanation.module}:{explanation.name}"
    verdict = "is native" if report.is_native else f"stays Python: {reason_of(report)}"
    sections = [_section("Source", "source", f"<table>{''.join(map(_source_line, explanation.lines))}</table>")]
    if explanation.ir:
        lanes = {index: site.lane for index, site in enumerate(report.sites)}
        sections.append(_section("Graph", "drawing", draw(explanation.ir, lanes)))
        sections += [_text("Kernels", explanation.plan), _text("Generated C++", explanation.cpp), _text("Graph as text", explanation.ir)]
    legend = "".join(f'<span class="lane {lane}">{lane}</span>' for lane in ("fused", "tfe", "python"))
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title><style>{STYLE}</style>'
    body = f"<h1>{escape(title)}</h1><p>{escape(verdict)} · {escape(explanation.file.name)} · natif {__version__}</p><p>{legend}</p>"
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>{body}{"".join(sections)}</body></html>\n'


def _section(title: str, kind: str, content: str) -> str:
    return f'<section><h2>{title}</h2><div class="{kind}">{content}</div></section>\n'


def _text(title: str, content: str) -> str:
    return f"<section><h2>{title}</h2><pre>{escape(content)}</pre></section>\n"


def _source_line(line: Line) -> str:
    lanes = "".join(f'<span class="lane {escape(lane)}">{escape(lane)}</span>' for lane in line.lanes)
    refused = [site for site in line.sites if site.outcome != "Claimed"]
    why = "".join(
        f'<tr><td></td><td></td><td class="why">{escape(f"{site.code}: {site.message}; {site.suggestion}")}</td></tr>' for site in refused
    )
    return f'<tr><td class="number">{line.number}</td><td>{lanes}</td><td>{escape(line.text)}</td></tr>{why}'
