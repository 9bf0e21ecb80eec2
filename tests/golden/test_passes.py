"""Golden cells: graphs before and after one pass, which the cells' file names."""

from pathlib import Path

import pytest
from cells import Cell, read

from natif import _compiler

CELLS = [cell for path in sorted((Path(__file__).parent / "passes").glob("*.txt")) for cell in read(path)]


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_cell(cell: Cell, rewrite_goldens: bool) -> None:
    cell.check(_compiler.run_pass(cell.path.stem, cell.given), rewrite_goldens)
