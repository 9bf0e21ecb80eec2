"""Where the drawing of a graph puts each node: in rows by data flow, what is inside a node inside its box. Lengths are pixels."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from natif.explanation.graph import Node, Region

CHARACTER = 7.3
"""The width of a character of the drawing's font."""

LINE = 16.0
GAP_X, GAP_Y = 22.0, 34.0
PADDING = 9.0


@dataclass
class Box:
    """One node's place. `lines` are what is written in it, `inner` the boxes of its regions' nodes, `part` names a region's own box."""

    lines: list[str]
    node: Node | None = None
    part: str = ""
    operands: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    inner: list["Box"] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0

    def move(self, right: float, down: float) -> None:
        """Moves the box with all that is in it."""
        self.x += right
        self.y += down
        for box in self.inner:
            box.move(right, down)


def arrange(body: Region) -> Box:
    """The function's box: its parameters in the first row, then its nodes."""
    boxes = _region(body, [_argument(value, kind) for value, kind in body.arguments.items()])
    whole = Box([], inner=boxes)
    _enclose(whole)
    return whole


def readable(value: str) -> str:
    """A value's name as the user wrote it; its number where it has none."""
    name, _, number = value.removeprefix("%").rpartition(".")
    return name or f"%{number}"


def _argument(value: str, kind: str) -> Box:
    return _sized(Box([readable(value), kind], part="value", results=[value]))


def _region(region: Region, first: list[Box]) -> list[Box]:
    boxes = [*first, *map(_node, region.nodes)]
    _place(boxes)
    return boxes


def _node(node: Node) -> Box:
    lines = [node.label, *(f"{readable(value)}: {kind}" for value, kind in zip(node.results, node.types, strict=True))]
    box = Box(lines, node, operands=list(node.operands), results=list(node.results))
    names = {"if": ("then", "else")}.get(node.op, ("",) * len(node.regions))
    for name, region in zip(names, node.regions, strict=False):
        part = Box([name] if name else [], part="region", inner=_region(region, [_argument(*each) for each in region.arguments.items()]))
        _enclose(part)
        part.move(sum(each.width + GAP_X for each in box.inner), 0.0)
        box.inner.append(part)
    return _enclose(box) if box.inner else _sized(box)


def _sized(box: Box) -> Box:
    box.width = max((len(line) for line in box.lines), default=0) * CHARACTER + 2 * PADDING
    box.height = len(box.lines) * LINE + 2 * PADDING
    return box


def _enclose(box: Box) -> Box:
    """Makes the box as large as its text and all that is in it, which goes below the text."""
    _sized(box)
    head = box.height if box.lines else PADDING
    left = min((each.x for each in box.inner), default=0.0)
    for each in box.inner:
        each.move(box.x + PADDING - left, box.y + head)
    if box.inner:
        box.width = max(box.width, max(each.x + each.width for each in box.inner) - box.x + PADDING)
        box.height = max(each.y + each.height for each in box.inner) - box.y + PADDING
    return box


def _place(boxes: list[Box]) -> None:
    """Puts boxes in rows: each below all that it uses, centred below it where there is room."""
    maker = {value: box for box in boxes for value in box.results}
    rows: dict[int, list[Box]] = {}
    row_of: dict[int, int] = {}
    for box in boxes:
        used = [maker[value] for value in _uses(box) if value in maker and maker[value] is not box]
        row = 1 + max((row_of.get(id(other), 0) for other in used), default=-1)
        row_of[id(box)] = row
        rows.setdefault(row, []).append(box)
    last = max(rows, default=0)
    for box in boxes:
        # What ends the region stands at its end.
        if box.node is not None and box.node.op in ("return", "yield", "continue", "break") and row_of[id(box)] != last:
            rows[row_of[id(box)]].remove(box)
            rows[last].append(box)
            row_of[id(box)] = last
    y = 0.0
    for row in sorted(rows):
        _place_row(rows[row], maker)
        for box in rows[row]:
            box.move(0.0, y - box.y)
        y += max((box.height for box in rows[row]), default=0.0) + GAP_Y


def _place_row(row: list[Box], maker: Mapping[str, Box]) -> None:
    centres = {id(box): _wanted_centre(box, maker) for box in row}
    row.sort(key=lambda box: centres[id(box)])
    edge = float("-inf")
    for box in row:
        x = max(centres[id(box)] - box.width / 2, edge)
        box.move(x - box.x, 0.0)
        edge = x + box.width + GAP_X


def _wanted_centre(box: Box, maker: Mapping[str, Box]) -> float:
    above = [maker[value].x + maker[value].width / 2 for value in _uses(box) if value in maker and maker[value] is not box]
    return sum(above) / len(above) if above else 0.0


def _uses(box: Box) -> list[str]:
    """The values that the box or anything in it uses."""
    return [*box.operands, *(value for each in box.inner for value in _uses(each))]
