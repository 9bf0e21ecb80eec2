"""Golden cells: what the last function of a program becomes, as a graph, or the sites that keep it Python."""

from pathlib import Path

import pytest
from cells import Cell, read
from claiming import claim

from natif import _compiler

FOLDER = Path(__file__).parent.parent / "golden" / "front"
CELLS = [cell for path in sorted(FOLDER.glob("*.txt")) for cell in read(path)]


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_cell(cell: Cell, rewrite_goldens: bool) -> None:
    found = claim(cell.given)
    if found["native"]:
        actual = _compiler.normal_graph(found["ir"], places=False)
    else:
        sites = [site for site in found["sites"] if site["outcome"] != "Claimed"]
        place = "{line}:{column} {outcome} {target} [{code}] {message}"
        # The three lines of the usual imports stand before the program.
        actual = "\n".join(place.format(**{**site, "line": site["line"] - 3}) for site in sites)
    for guard, is_function, value in found["guards"]:
        actual = actual.strip("\n") + f"\nguard {guard} " + ("is the function" if is_function else f"== {value!r}")
    cell.check(actual, rewrite_goldens)
