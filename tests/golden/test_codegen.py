"""Golden cells: graphs and the C++ that is written for them, and their plans. The file names the lane."""

from pathlib import Path

import pytest
from cells import Cell, read

from natif import _compiler

FOLDER = Path(__file__).parent


def cells(kind: str) -> list[Cell]:
    return [cell for path in sorted((FOLDER / kind).glob("*.txt")) for cell in read(path)]


def functions_of(text: str) -> str:
    """What is written for the functions, without the includes before and the tables after."""
    begin, end = text.index("namespace natif::level0_native {"), text.index("\nnamespace {\n")
    return "\n".join(line.rstrip() for line in text[begin:end].strip().splitlines())


@pytest.mark.parametrize("cell", cells("codegen"), ids=str)
def test_code(cell: Cell, rewrite_goldens: bool) -> None:
    cell.check(functions_of(_compiler.emit_graph(cell.given, cell.path.stem)), rewrite_goldens)


@pytest.mark.parametrize("cell", cells("plans"), ids=str)
def test_plan(cell: Cell, rewrite_goldens: bool) -> None:
    cell.check(_compiler.plan_graph(cell.given, cell.path.stem), rewrite_goldens)
