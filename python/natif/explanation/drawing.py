"""A graph as SVG: boxes coloured by lane, arrows along the data. Self-contained; styles are classes of the page (see page.STYLE)."""

from collections.abc import Iterator, Mapping
from html import escape

from natif.explanation.graph import parse
from natif.explanation.layout import LINE, PADDING, Box, arrange

_MARGIN = 12.0
_TIP = (
    '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker>'
)


def draw(ir: str, lanes: Mapping[int, str]) -> str:
    """The SVG element for a graph's text form. `lanes` gives the lane of each site by the index that nodes name."""
    whole = arrange(parse(ir))
    boxes = list(_all(whole))
    makers = {value: box for box in boxes for value in box.results}
    # Arrows run above the boxes that hold others, so that they can be seen to end inside, and below those that hold text only.
    parts = [_box(box, lanes) for box in boxes if box.inner]
    parts += [arrow for box in boxes for arrow in _arrows(box, makers)]
    parts += [_box(box, lanes) for box in boxes if not box.inner]
    width, height = whole.width + 2 * _MARGIN, whole.height + 2 * _MARGIN
    view = f"{whole.x - _MARGIN:.0f} {whole.y - _MARGIN:.0f} {width:.0f} {height:.0f}"
    return (
        f'<svg class="graph" xmlns="http://www.w3.org/2000/svg" viewBox="{view}" width="{width:.0f}" height="{height:.0f}" role="img">'
        f"<defs>{_TIP}</defs>{''.join(parts)}</svg>"
    )


def _all(box: Box) -> Iterator[Box]:
    for each in box.inner:
        yield each
        yield from _all(each)


def _box(box: Box, lanes: Mapping[int, str]) -> str:
    node = box.node
    kind = box.part or ("node" if node is None or not node.regions else "control")
    lane = lanes.get(node.site, "") if node is not None else ""
    tip = f"<title>line {node.line}{f', lane {lane}' if lane else ''}</title>" if node is not None and node.line > 0 else ""
    place = f'data-line="{node.line}"' if node is not None else ""
    rectangle = f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="6"/>'
    texts = "".join(_text(box, index, line) for index, line in enumerate(box.lines))
    return f'<g class="{kind} {lane}" {place}>{tip}{rectangle}{texts}</g>'


def _text(box: Box, index: int, line: str) -> str:
    y = box.y + PADDING + LINE * (index + 0.75)
    title = ' class="title"' if index == 0 else ""
    return f'<text x="{box.x + PADDING:.1f}" y="{y:.1f}"{title}>{escape(line)}</text>'


def _arrows(box: Box, makers: Mapping[str, Box]) -> Iterator[str]:
    """One for each value that the box uses; they end side by side, from left to right as they come."""
    used = sorted((makers[value] for value in dict.fromkeys(box.operands) if value in makers), key=lambda maker: maker.x + maker.width / 2)
    for index, maker in enumerate(used):
        yield _arrow(maker, box, (index + 1) / (len(used) + 1))


def _arrow(maker: Box, user: Box, end: float) -> str:
    x0, y0 = maker.x + maker.width / 2, maker.y + maker.height
    x1, y1 = user.x + user.width * end, user.y
    bend = max(12.0, abs(y1 - y0) / 2)
    curve = f"M{x0:.1f} {y0:.1f}C{x0:.1f} {y0 + bend:.1f} {x1:.1f} {y1 - bend:.1f} {x1:.1f} {y1:.1f}"
    return f'<path class="arrow" d="{curve}" marker-end="url(#tip)"/>'
